"""DP-SGD at the noise multipliers that r1smg2024 states for Figure 8.

The paper gives CIFAR-10 noise multipliers and totals that do not belong together (r1-f8-eps).
studies/dpsgd.py has the stated totals; this study has the totals that follow from the stated
multipliers. Seeds depend on the name of a study, so trials have their own initial weights and
samples.
"""

from studies.dpsgd import NoisyGradients


class StatedMultipliers(NoisyGradients):
    """The study of this module."""

    name = "dpsgd_multipliers"
    family = None
