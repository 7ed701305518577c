"""integers2021 (Canonne et al. 2020; Agarwal et al. 2021): noise of whole numbers.

Its claims are judged by sums for Renyi divergences.
"""

NAME = "Discrete Gaussian and Skellam"
MECHANISMS = ("discrete-gaussian", "skellam")
