"""integers2021 (Canonne et al. 2020; Agarwal et al. 2021): noise of whole numbers.

Its judges are the suite's, which many papers share. Imported by discovery alone. It imports
nothing.
"""
