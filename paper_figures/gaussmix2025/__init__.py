"""gaussmix2025 (Lev et al., arXiv:2505.24603): Gaussian sketches.

The judges of its claims are the suite's, which many papers share.
"""

NAME = "GaussMix"
MECHANISMS = ("gaussian-sketch",)
