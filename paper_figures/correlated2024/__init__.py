"""correlated2024 (Lebeda, arXiv:2408.06853): the claims on correlated Gaussian noise.

Its judges are the suite's, which many papers share.
"""

NAME = "Correlated Gaussian"
MECHANISMS = ("correlated-gaussian",)
