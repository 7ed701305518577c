"""Deltas estimated from drawn losses, against a profile."""

import numpy as np


def check_losses(profile, epsilons, seed):
    """Assert that the losses of both sides reproduce delta within four standard errors."""
    rng = np.random.default_rng(seed)
    forward = profile.sample_losses(rng, 100_000)
    backward = profile.sample_losses(rng, 100_000, reverse=True)
    assert not (forward == -np.inf).any() and not (backward == np.inf).any()
    for epsilon in epsilons:
        for losses in (forward, -backward):
            gain = -np.expm1(np.minimum(epsilon - losses, 0))
            error = gain.std() / np.sqrt(gain.size)
            assert abs(gain.mean() - profile.delta(epsilon).value) < 4 * error
