"""PipelineDP: its noise of vector sums, by PyDP."""

import numpy as np
from pipeline_dp import aggregate_params, dp_computations
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism


def noise(kind, norm, delta, stated_scale):
    """Of a vector of 16 elements whose norm is at most 4."""

    def make():
        limits = dp_computations.AdditiveVectorNoiseParams(
            eps=1.0, delta=delta, max_norm=4.0, l0_sensitivity=1, linf_sensitivity=4.0,
            norm_kind=getattr(aggregate_params.NormKind, norm.capitalize()),
            noise_kind=getattr(aggregate_params.NoiseKind, kind.upper()),
        )  # fmt: skip

        def release(values):
            rows = np.array(values).reshape(-1, 16)
            return [each for row in rows for each in dp_computations.add_noise_vector(row, limits)]

        return release, {
            "family": kind, "scale": stated_scale, "epsilon": 1.0, "delta": delta, "norm": norm,
        }  # fmt: skip

    return make


# The mechanisms that it calls, for the sensitivities of a change of norm 4 in its documentation.
NOISES = {
    "Laplace, L1": noise("laplace", "l1", 0, LaplaceMechanism(1.0, 4.0).diversity),
    "Laplace, Linf": noise("laplace", "linf", 0, LaplaceMechanism(1.0, 64.0).diversity),
    "Gaussian, L2": noise("gaussian", "l2", 1e-5, GaussianMechanism(1.0, 1e-5, 4.0).std),
    "Gaussian, Linf": noise("gaussian", "linf", 1e-5, GaussianMechanism(1.0, 1e-5, 16.0).std),
}
