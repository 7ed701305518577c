"""privunit2022 (Asi, Feldman and Talwar, arXiv:2205.02466): the claim on PrivUnitG.

A judge of the suite decides it.
"""

NAME = "PrivUnitG"
MECHANISMS = ("privunit-g",)
