"""Learning under noise: networks, private gradient descent, federated learning.

Apart from `gradients`, `loop`, `rounds`, `federated` and `vertical`, which import torch, and
`noise` and `uploads`, which import accounting, everything here loads in no time.
"""
