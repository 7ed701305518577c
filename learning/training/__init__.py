"""Training of networks: noisy gradient descent with its clipping and accounting, and classifiers
and feature extractors that are trained without noise.

`experiments`, `learning.federated` and `learning.releases` may import it. It imports
`learning.networks`, `learning.records`, `learning.releases`, `mechanisms` and
`experiments.contract`.
"""
