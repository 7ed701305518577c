"""bsr2024 (Kalinin and Lampert, arXiv:2405.13763): the sensitivity of Toeplitz matrices.

Its judge is the suite's, which many papers share.
"""

NAME = "Banded square root"
