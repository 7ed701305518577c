"""jax_privacy: its privatizer of gradients."""

import dp_accounting
import jax.numpy as jnp
from jax_privacy import noise_addition

MULTIPLIER, DELTA = 4.0, 1e-5


def gaussian(seed=None):
    """The epsilon is that of dp_accounting, which comes with it, for an l2 sensitivity of 4."""
    privatizer = noise_addition.gaussian_privatizer(stddev=4 * MULTIPLIER, prng_key=seed)
    state = privatizer.init(jnp.zeros(1))

    def release(values):
        nonlocal state
        noisy, state = privatizer.update(jnp.array(values, dtype=jnp.float32), state)
        return noisy.tolist()

    epsilon = dp_accounting.get_epsilon_gaussian(MULTIPLIER, DELTA)
    return release, {
        "family": "gaussian", "scale": 4 * MULTIPLIER, "epsilon": epsilon, "delta": DELTA,
        "norm": "l2",
    }  # fmt: skip


NOISES = {"gaussian_privatizer": gaussian}
