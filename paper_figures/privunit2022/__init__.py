"""privunit2022 (Asi, Feldman and Talwar, arXiv:2205.02466): the claim on PrivUnitG.

Its judge is the suite's.
"""

NAME = "PrivUnitG"
MECHANISMS = ("privunit-g",)
