"""Figures, tables and verdicts of mgm2021, one module per study and one for its theorems.

federated_horizontal  Figure 2          noise_only  Tables 4 and 5
federated_vertical    Figure 3
"""

NAME = "MGM, UDN and IDN"
