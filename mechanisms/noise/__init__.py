"""Noise distributions: samplers, moments of the squared norm, and privacy profiles."""
