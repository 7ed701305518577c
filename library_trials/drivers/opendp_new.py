"""OpenDP 0.14 and newer: noise of vectors of floats and of whole numbers."""

import warnings

import opendp.prelude as dp

warnings.simplefilter("ignore", DeprecationWarning)
dp.enable_features("contrib", "floating-point")


def laplace(number, family, scale=3.0):
    """Its privacy map gives epsilon at an l1 distance of 4."""

    def make():
        atoms = dp.atom_domain(T=number, nan=False if number == dp.f64 else None)
        release = dp.m.make_laplace(dp.vector_domain(atoms), dp.l1_distance(T=number), scale=scale)
        epsilon = release.map(4.0 if number == dp.f64 else 4)
        stated = {"family": family, "scale": scale, "epsilon": epsilon, "delta": 0, "norm": "l1"}
        return release, stated

    return make


def gaussian(number, family, scale=4.0):
    """Its privacy map gives epsilon at an l2 distance of 4 and delta = 1e-5."""

    def make():
        atoms = dp.atom_domain(T=number, nan=False if number == dp.f64 else None)
        release = dp.m.make_gaussian(dp.vector_domain(atoms), dp.l2_distance(T=dp.f64), scale=scale)
        epsilon = dp.c.make_zCDP_to_approxDP(release).map(4.0).epsilon(1e-5)
        stated = {"family": family, "scale": scale, "epsilon": epsilon, "delta": 1e-5, "norm": "l2"}
        return release, stated

    return make


NOISES = {
    "Laplace, floats": laplace(dp.f64, "laplace"),
    "Laplace, whole numbers": laplace(dp.i64, "discrete-laplace"),
    "Gaussian, floats": gaussian(dp.f64, "gaussian"),
    "Gaussian, whole numbers": gaussian(dp.i64, "discrete-gaussian"),
}
