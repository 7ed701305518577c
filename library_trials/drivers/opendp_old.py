"""OpenDP 0.3: noise of vectors of floats, behind the flag for floating point."""

from opendp.meas import make_base_gaussian, make_base_laplace
from opendp.mod import binary_search, enable_features

enable_features("contrib", "floating-point")


def laplace():
    """Its privacy relation gives epsilon at a distance of 4."""
    release = make_base_laplace(3.0, D="VectorDomain<AllDomain<f64>>")
    epsilon = binary_search(lambda each: release.check(4.0, each), (0.0, 10.0))
    return release, {
        "family": "laplace", "scale": 3.0, "epsilon": epsilon, "delta": 0, "norm": "l1",
    }  # fmt: skip


def gaussian():
    """Its privacy relation gives epsilon at a distance of 4 and delta = 1e-5."""
    release = make_base_gaussian(24.0, D="VectorDomain<AllDomain<f64>>")
    epsilon = binary_search(lambda each: release.check(4.0, (each, 1e-5)), (0.01, 2.0))
    return release, {
        "family": "gaussian", "scale": 24.0, "epsilon": epsilon, "delta": 1e-5, "norm": "l2",
    }  # fmt: skip


NOISES = {"Laplace, floats": laplace, "Gaussian, floats": gaussian}
