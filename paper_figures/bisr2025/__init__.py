"""bisr2025 (Kalinin et al., arXiv:2505.12128): the banded inverse square root.

Imported by discovery alone. May import mechanisms, papers, the modules at the top of paper_figures
and the suite's.
"""
