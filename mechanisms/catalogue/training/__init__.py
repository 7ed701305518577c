"""Noise of gradients and of trained parameters, calibrated over a whole training."""
