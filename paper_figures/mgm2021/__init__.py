"""Figures, tables and verdicts of mgm2021, by study, and those of its theorems.

federated_figures   Figures 2 and 3     noise_only  Tables 4 and 5

`federated_verdicts` judges both figures.
"""

NAME = "MGM, UDN and IDN"
