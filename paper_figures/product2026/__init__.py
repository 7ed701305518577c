"""product2026 (Liu et al., SIGMOD 2026, arXiv:2512.06253): the claims on product noise.

Its judges are the suite's, which many papers share.
"""

NAME = "Product noise"
READ = "Judged by its published code; the paper was not read in full."
MECHANISMS = ("product-noise",)
