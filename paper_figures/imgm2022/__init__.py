"""Figures and verdicts of imgm2022, and those of its theorems.

accuracies  Figure 1 (type II), and type I, which the paper only announces

`learning_verdicts` judges both.
"""

NAME = "IMGM"
