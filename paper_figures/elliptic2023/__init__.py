"""elliptic2023 (Joseph and Yu, arXiv:2309.15790): the claims on elliptic Gaussian noise.

Its judges are the suite's, which many papers share.
"""

NAME = "Elliptic Gaussian and K-norm noise"
MECHANISMS = ("elliptic-gaussian", "k-norm")
