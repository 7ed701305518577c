"""spherical2026 (Wei et al., arXiv:2606.08681): no additive noise is ahead in high dimension."""

NAME = "Spherical gamma"
READ = (
    "Read: theorem, as a third party read its statements in version 1; the paper itself was not at "
    "hand."
)
MECHANISMS = ("spherical-gamma",)
