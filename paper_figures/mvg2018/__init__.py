"""mvg2018: Tables 3 to 6 and Figure 4, and the verdicts on its claims (claims.yaml).

figure_4    Figure 4            tables      Tables 3 to 6

`compared_study` says which trials they read; `verdicts` judges the three studies, by `draws` of the
noise where trials are too few, and `theorems` needs no study.
"""

NAME = "MVG"
