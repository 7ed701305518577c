"""spherical2026 (Wei et al., arXiv:2606.08681): no additive noise is ahead in high dimension.

Imported by discovery alone. May import mechanisms, papers, runs and the modules at the top of
paper_figures. No other package imports it.
"""
