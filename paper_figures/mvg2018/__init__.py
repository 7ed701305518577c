"""The home of mvg2018: Tables 3 to 6, Figure 4, and the verdicts on its claims (claims.yaml).

figures     Figure 4, Tables 3 to 6

`compared_study` selects the trials for all of them. `verdicts` judges the three studies; `draws`
draws more noise if the trials are too few. `theorems` judges the theory and reads no study.
"""

NAME = "MVG"
