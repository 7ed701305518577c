"""integers2021 (Canonne et al. 2020; Agarwal et al. 2021): noise of whole numbers.

Its claims are judged by sums for Renyi divergences. Imported by discovery alone. May import
mechanisms, studies, the modules at the top of paper_figures and the suite's.
"""
