"""Training of networks: noisy gradient descent with its clipping and accounting, and classifiers
and feature extractors that are trained without noise.

`learning.federated`, `studies` and everything above them may import it. It imports
`learning.networks`, `learning.records`, `learning.releases`, `mechanisms` and
`studies.base`.
"""
