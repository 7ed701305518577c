"""PyDP: the numerical mechanisms of Google's library."""

from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism


def laplace():
    """Its documentation calls the sensitivity that of l1."""
    mechanism = LaplaceMechanism(1.0, 4.0)
    return lambda values: [mechanism.add_noise(each) for each in values], {
        "family": "laplace", "scale": mechanism.diversity, "epsilon": 1.0, "delta": 0, "norm": "l1",
    }  # fmt: skip


def gaussian():
    """Its attribute calls the sensitivity that of l2."""
    mechanism = GaussianMechanism(1.0, 1e-5, 4.0)
    return lambda values: [mechanism.add_noise(each) for each in values], {
        "family": "gaussian", "scale": mechanism.std, "epsilon": 1.0, "delta": 1e-5, "norm": "l2",
    }  # fmt: skip


NOISES = {"LaplaceMechanism": laplace, "GaussianMechanism": gaussian}
