"""r1smg2024: a module per study, with its figures, tables and verdicts; theorems read no study.

count_query_maps    Figure 4            dpsgd       Figures 7 and 8
count_query         Figure 5, Table 1   noise_only  Figure 9
pca                 Figure 6
"""

NAME = "R1SMG"
