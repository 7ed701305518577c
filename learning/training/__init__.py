"""Training of networks: noisy gradient descent with its clipping and accounting, and classifiers
and feature extractors that are trained without noise.
"""
