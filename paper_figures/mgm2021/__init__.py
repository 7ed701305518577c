"""The home of mgm2021: figures, tables, and verdicts on its studies and theorems.

federated_figures   Figures 2 and 3     noise_only  Tables 4 and 5

`federated_verdicts` judges both figures; `theorems` and `lemmas` judge the theory.
"""

NAME = "MGM, UDN and IDN"
