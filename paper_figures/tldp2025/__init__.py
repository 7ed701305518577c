"""The home of tldp2025: the figures, tables and judges of its three studies and of its theorems.

    scores     Figures 1, 2 and 3, Table 5

`released_verdicts` judges Figures 1 and 2, and `parameter_verdicts` judges Figure 3, by the scores
that the figures show. `theorems` judges Table 5 and the theory.
"""

NAME = "TLDP"
