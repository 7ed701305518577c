"""tvg2021: Gaussian noise with a covariance for each axis against i.i.d. Gaussian noise."""

import math
from collections.abc import Sequence

import numpy as np

from claims.judged_rows import listed
from claims.judges import Shape, judge
from claims.verdicts import NOT_RUN, Finding, Part
from mechanisms import Query
from mechanisms.noise.tensor_gaussian import TensorGaussian


@judge
def tensor_noise(*, shape: Shape, ratios: list[float]) -> Finding:
    """How much larger than i.i.d. noise such noise is at equal privacy; no study is run."""
    factors = {ratio: factor_over_iid(rising_noise(shape, ratio)) for ratio in ratios}
    found = listed(f"{factor:.3g} for a ratio of {ratio:g}" for ratio, factor in factors.items())
    return Finding(
        parts=[Part("experiments", NOT_RUN)],
        detail=(
            "Noise whose covariance is the Kronecker product of one matrix per axis is exactly as "
            "private, for changes of l2 norm up to s, as Gaussian noise with mu = s over the root "
            "of the product of their least eigenvalues. At equal mu the expected squared norm is "
            "that of i.i.d. noise times the product, over the axes, of the mean over the least "
            f"eigenvalue. For an answer of {'x'.join(map(str, shape))} and eigenvalues that rise "
            f"geometrically, with the same ratio of the largest to the least on each axis: {found}."
        ),
        calibration="exact",
    )


def rising_noise(shape: Sequence[int], ratio: float) -> TensorGaussian:
    """Noise of TVG whose variances rise geometrically by `ratio` along each axis, from 1."""
    stds = tuple(np.sqrt(np.geomspace(1.0, ratio, size)) for size in shape)
    return TensorGaussian(stds=stds, directions=(None,) * len(stds))


def factor_over_iid(noise: TensorGaussian) -> float:
    """E||noise||^2 over that of i.i.d. Gaussian noise of the same mu for a Frobenius ball; >= 1.

    The i.i.d. noise of mu at l2 sensitivity 1 has variance 1 / mu^2.
    """
    mu = noise.profile(Query(shape=noise.shape, l2_sensitivity=1.0)).mu
    return noise.loss().mean * mu**2 / math.prod(noise.shape)
