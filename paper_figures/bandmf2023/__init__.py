"""bandmf2023 (Choquette-Choo et al., arXiv:2306.08153): banded matrix factorisation.

The judges of its guarantee and of its sensitivities are the suite's.
"""

NAME = "Banded matrix factorisation"
MECHANISMS = ("factorisation",)
