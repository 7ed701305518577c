"""The home of tldp2025: the figures, tables and judges of its three studies and of its theorems.

    figures     Figures 1, 2 and 3, Table 5

`released_verdicts` judges Figures 1 and 2, and `parameter_verdicts` judges Figure 3. They share
`scores` with the figures.
"""

NAME = "TLDP"
