"""The diagonal of the Hessian of a loss, and clipping thresholds from it."""

from __future__ import annotations

import numpy as np

from learning.networks.network import Network
from learning.training.device import prepared


def hessian_diagonal(
    network: Network,
    parameters: np.ndarray,
    inputs: np.ndarray,
    labels: np.ndarray,
    rng: np.random.Generator,
    probes: int = 32,
) -> np.ndarray:
    """The diagonal (M,) of the Hessian of the mean cross-entropy, estimated without bias.

    Mean of z * (H z) over `probes` vectors z of random signs (Bekas, Kokiopoulou and Saad 2007).
    """
    import torch
    from torch.nn.functional import cross_entropy

    prepared()
    at = torch.from_numpy(parameters.copy()).requires_grad_()
    loss = cross_entropy(network.logits(at, torch.from_numpy(inputs)), torch.from_numpy(labels))
    (slope,) = torch.autograd.grad(loss, at, create_graph=True)
    total = torch.zeros_like(at)
    for _ in range(probes):
        signs = torch.from_numpy(rng.choice(np.float32([-1, 1]), len(parameters)))
        (product,) = torch.autograd.grad(slope @ signs, at, retain_graph=True)
        total += signs * product
    return (total / probes).detach().numpy()


def thresholds(diagonal: np.ndarray) -> np.ndarray:
    """Parts t of the range in (0, 1], shape (1, M), by the curvature h = |diagonal|, (M,).

    t = min(1, sqrt(median / h)), the median over the parameters with h > 0: one that the loss
    reacts to more than to the median one is held more tightly, so that moves to the ends of the
    ranges cost the same by the quadratic model h t^2. The rule is ours: tldp2025 has none.
    """
    curvature = np.abs(diagonal.astype(np.float64))
    seen = curvature[curvature > 0]
    if seen.size == 0:
        return np.ones((1, len(diagonal)))
    middle = np.median(seen)
    return np.sqrt(middle / np.maximum(curvature, middle))[None]
