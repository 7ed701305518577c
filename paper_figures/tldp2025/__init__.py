"""tldp2025: the figures, tables and judges of its three studies and of its theorems.

Imported by discovery alone. May import papers, mechanisms, runs and the modules at the top of
paper_figures. `scores` is the selection that the figures and the judges share.
"""
