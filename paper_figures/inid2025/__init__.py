"""inid2025 (Muthukrishnan and Kalyani, arXiv:2302.03511): noise for unequal sensitivities.

Its judges are the suite's, which many papers share. Imported by discovery alone. It imports
nothing.
"""
