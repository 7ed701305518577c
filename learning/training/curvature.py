"""The diagonal of the Hessian of a loss, and the clipping thresholds that follow from it."""

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
    """Estimate the diagonal (M,) of the Hessian H of the mean cross-entropy without bias.

    The estimate is the mean of z * (H z) over `probes` vectors z of random signs (Bekas,
    Kokiopoulou, Saad 2007).
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
    """Return shares t in (0, 1] of the clipping range, (1, M), from the curvature h = |diagonal|.

    t = min(1, sqrt(median / h)), where the median is over the parameters with h > 0. Parameters
    with more curvature than the median have smaller ranges, so that a move to the end of any of
    them costs the same in the quadratic model h t^2. tldp2025 states no rule; this one is ours.

    Args:
        diagonal: (M,).
    """
    curvature = np.abs(diagonal.astype(np.float64))
    seen = curvature[curvature > 0]
    if seen.size == 0:
        return np.ones((1, len(diagonal)))
    middle = np.median(seen)
    return np.sqrt(middle / np.maximum(curvature, middle))[None]
