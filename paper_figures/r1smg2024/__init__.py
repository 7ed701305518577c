"""The home of r1smg2024: figures, tables and verdicts by study.

The judges of theorems, lemmas and remarks read no study.

count_query_figures   Figures 4 and 5, Table 1    dpsgd       Figures 7 and 8
pca                   Figure 6                    noise_only  Figure 9
"""

NAME = "R1SMG"
