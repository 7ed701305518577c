"""The home of imgm2022: figures, and verdicts on its studies and theorems.

accuracies  Figure 1 (type II), and type I, which the paper only announces

`learning_verdicts` judges both studies; `theorems` and `lemmas` judge the theory.
"""

NAME = "IMGM"
