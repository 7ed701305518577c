"""The home of mvg2018: Tables 3 to 6, Figure 4, and the verdicts on its claims (claims.yaml).

figures     Figure 4, Tables 3 to 6

`compared_study` selects the trials for all of them. `verdicts` judges the three studies, with
`draws` of the noise where trials are too few. `theorems` needs no study.
"""

NAME = "MVG"
