"""The home of imgm2022: figures, and verdicts on its studies and theorems.

learning   Figure 1 (type II), and type I, which the paper only announces; verdicts on both

`theorems` judges the theory.
"""

NAME = "IMGM"
