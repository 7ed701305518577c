"""tldp2025: the figures, tables and judges of its three studies and of its theorems.

    figures     Figures 1, 2 and 3, Table 5

`released_verdicts` judges Figures 1 and 2, `parameter_verdicts` Figure 3; `scores` is what they
share with the figures.
"""

NAME = "TLDP"
