"""product2026 (Liu et al., SIGMOD 2026, arXiv:2512.06253): the claims on product noise.

Its judges are the suite's, which many papers share.
"""

NAME = "Product noise"
MECHANISMS = ("product-noise",)
