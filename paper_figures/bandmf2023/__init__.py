"""bandmf2023 (Choquette-Choo et al., arXiv:2306.08153): banded matrix factorisation.

Imported by discovery alone. May import mechanisms, papers and the modules at the top of
paper_figures. The judges of its guarantee and of its sensitivities are the suite's.
"""
