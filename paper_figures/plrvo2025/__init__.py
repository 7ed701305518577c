"""plrvo2025 (CCS 2025, arXiv:2509.06264): the noise of PLRV-O in DP-SGD, by its Fisher information.

Imported by discovery alone. May import mechanisms, papers and the modules at the top of
paper_figures. No other package imports it.
"""
