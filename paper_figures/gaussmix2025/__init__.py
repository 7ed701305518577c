"""gaussmix2025 (Lev et al., arXiv:2505.24603): the claims on Gaussian sketches.

Its judges are the suite's, which many papers share. Imported by discovery alone. It imports
nothing.
"""
