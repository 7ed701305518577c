"""Figures and verdicts of imgm2022, one module per study and one for its theorems.

features   Figure 1 (type II)           gradients  type I, which the paper only announces
"""

NAME = "IMGM"
