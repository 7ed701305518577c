"""inid2025 (Muthukrishnan and Kalyani, arXiv:2302.03511): noise for unequal sensitivities.

The judges of its claims are the suite's, which many papers share.
"""

NAME = "i.n.i.d. noise"
MECHANISMS = ("inid-gaussian", "inid-laplace")
