"""privunit2022 (Asi, Feldman and Talwar, arXiv:2205.02466): the claims on PrivUnitG.

The judge of its guarantee is the suite's.
"""

NAME = "PrivUnitG"
MECHANISMS = ("privunit-g",)
