"""The home of mgm2021: figures, tables, and verdicts on its studies and theorems.

federated   Figures 2 and 3     noise_only  Tables 4 and 5

`theorems` judges the theory.
"""

NAME = "MGM, UDN and IDN"
