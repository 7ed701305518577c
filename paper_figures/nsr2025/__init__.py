"""nsr2025 (Henzinger, Kalinin and Upadhyay, arXiv:2509.14334): the factorisation norm of counting.

Imported by discovery alone. May import mechanisms, papers, the modules at the top of paper_figures
and the suite's.
"""
