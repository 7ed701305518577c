"""Profiles of noise that keeps each component with the same probability."""

import numpy as np

from mechanisms.privacy.keep_or_noise_profile import KeepOrNoiseProfile


def keep_or_noise(noise, keep, components):
    """The profile if `noise` is that of one component and `keep` holds for all components."""
    with np.errstate(divide="ignore"):
        log_keep = np.full(components, np.log(np.float64(keep)))
    return KeepOrNoiseProfile.of(noise=noise.compose(components), log_keep=log_keep)
