"""mvg2018: Tables 3 to 6 and Figure 4, and the verdicts on its claims (claims.yaml).

A module per study has its table and its judges; what all three studies share is in `compared_study`
(which trials are read), `comparison` (tables and findings) and `three_studies` (Figure 4, Table 6).
"""

NAME = "MVG"
