"""The tensor-variate Gaussian mechanism (TVG), for answers of three axes and more."""

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.tensor_gaussian import TensorGaussian
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.directions import orthonormal
from mechanisms.query.option import matrix, per_axis, weights
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_delta


class TVG(AdditiveMechanism):
    """Noise with covariance Sigma_1 x ... x Sigma_K (Kronecker), one Sigma_k for each axis.

    As with MVG, direction i of axis k with weight theta_i has variance proportional to
    theta_i^(-1/2). Without weights the noise is i.i.d.: that of the analytic Gaussian.

    The paper's theorem was not available to us, so that there is no published
    calibration. The exact one has s / prod_k sqrt(lambda_min(Sigma_k)) = mu for changes of l2 norm
    up to s, with the mu of the budget (Balle and Wang 2018, Theorem 8).
    """

    key = "tvg"
    title = "TVG"
    paper = "Yang et al. 2021"
    theorem = "IEEE TIFS 17, tensor-variate Gaussian noise, exactly calibrated only"
    guarantee = "approximate"
    look = ("#C71585", "h", 11)
    options = {
        "axis_directions": per_axis(
            matrix("orthonormal directions of each Sigma_k, one per column")
        ),
        "axis_precision": per_axis(weights("theta, the share of precision of each direction")),
    }

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if len(query.shape) < 3:
            raise Unsupported(
                f"needs at least 3 axes, got shape {query.shape}; for a matrix use mvg"
            )
        if calibration == "published":
            raise Unsupported(
                "has no published calibration: the paper's theorem was not available to us; use "
                "calibration exact"
            )
        return super().build(query, budget, calibration, settings)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, axis_directions, axis_precision):
        require_delta(budget)
        axes = query.shape
        stds = []
        for size, theta in zip(
            axes, _one_each("axis_precision", axis_precision, axes), strict=True
        ):
            theta = np.ones(size) if theta is None else np.asarray(theta, dtype=float)
            if theta.shape != (size,):
                raise ValueError(
                    f"option axis_precision must have {size} weights, got {theta.shape}"
                )
            stds.append((theta.max() / theta) ** 0.25)
        # Every Sigma_k now has the least eigenvalue 1.
        stds[0] *= query.reach / float(mu_for(budget.epsilon, budget.delta))
        turns = zip(axes, _one_each("axis_directions", axis_directions, axes), strict=True)
        return TensorGaussian(
            stds=tuple(stds),
            directions=tuple(orthonormal("axis_directions", each, size) for size, each in turns),
        )


def _one_each(name: str, given, axes: tuple[int, ...]) -> list:
    """The entry of an option for each axis, None where nothing is given."""
    if given is None:
        return [None] * len(axes)
    if len(given) != len(axes):
        raise ValueError(
            f"option {name} must have an entry for each of {len(axes)} axes, got {len(given)}"
        )
    return list(given)
