"""inid2025 (Muthukrishnan and Kalyani, arXiv:2302.03511): noise for unequal sensitivities.

Imported by discovery alone. May import mechanisms, studies, the modules at the top of
paper_figures and the suite's. The judges of its claims are the suite's, which many papers share.
"""
