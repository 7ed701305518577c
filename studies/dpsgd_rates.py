"""Learning with noisy gradients at more learning rates, for r1smg2024 Figure 7.

The epochs of Figure 7 depend on the learning rate, which the paper does not state. A cell of
studies/dpsgd.py holds all of its rates, so rates between them have their own cells here. Seeds
depend on the name of a study, so trials have their own initial weights and samples.
"""

from studies.dpsgd import NoisyGradients


class MoreRates(NoisyGradients):
    """The study of this module."""

    name = "dpsgd_rates"
    family = None
