"""gaussmix2025 (Lev et al., arXiv:2505.24603): Gaussian sketches.

Imported by discovery alone. May import mechanisms, studies and the modules at the top of
paper_figures. The judges of its claims are the suite's, which many papers share.
"""
