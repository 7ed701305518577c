"""product2026 (Liu et al., SIGMOD 2026, arXiv:2512.06253): the claims on product noise.

The suite's judges, which many papers share, decide them.
"""

NAME = "Product noise"
MECHANISMS = ("product-noise",)
