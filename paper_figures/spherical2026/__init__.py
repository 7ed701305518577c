"""spherical2026 (Wei et al., arXiv:2606.08681): no additive noise is ahead in high dimension."""

NAME = "Spherical gamma"
MECHANISMS = ("spherical-gamma",)
