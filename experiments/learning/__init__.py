"""Learning under noise: networks, clipped per-example gradients, private gradient descent.

Apart from `gradients` and `loop`, which import torch, everything here loads in no time.
"""
