"""privunit2022 (Asi, Feldman and Talwar, arXiv:2205.02466): the claims on PrivUnitG.

Imported by discovery alone. May import mechanisms, papers and the modules at the top of
paper_figures. The judge of its guarantee is the suite's.
"""
