"""diffprivlib: its mechanisms of one number, called for every element."""

from math import sqrt

from diffprivlib import mechanisms

CLAIM = {"epsilon": 1.0, "sensitivity": 4}


def noise(kind, family, delta, scale_of):
    """What it states: the variance of a mechanism, and the norm of its sensitivity nowhere."""

    def make(seed=None):
        budget = {**CLAIM, "delta": delta} if delta else CLAIM
        mechanism = kind(**budget, random_state=seed)
        stated = {
            "family": family, "scale": scale_of(mechanism),
            "epsilon": CLAIM["epsilon"], "delta": delta, "norm": "",
        }  # fmt: skip
        return lambda values: [mechanism.randomise(each) for each in values], stated

    return make


NOISES = {
    "Laplace": noise(mechanisms.Laplace, "laplace", 0, lambda m: sqrt(m.variance(0) / 2)),
    "Gaussian": noise(mechanisms.Gaussian, "gaussian", 1e-5, lambda m: sqrt(m.variance(0))),
    "GaussianAnalytic": noise(
        mechanisms.GaussianAnalytic, "gaussian", 1e-5, lambda m: sqrt(m.variance(0))
    ),
    # Its documentation: the ratio of the probabilities of neighbours is exp(-epsilon/sensitivity).
    "Geometric": noise(mechanisms.Geometric, "discrete-laplace", 0, lambda m: 4.0),
}
