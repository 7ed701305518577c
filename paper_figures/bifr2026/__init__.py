"""bifr2026 (Kalinin et al., arXiv:2605.18379): inverse factors with few bands.

Imported by discovery alone. May import mechanisms, papers and the modules at the top of
paper_figures.
"""
