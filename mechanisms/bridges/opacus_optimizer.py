"""DP-SGD with opacus and the noise of any mechanism."""

import math
import os

import numpy as np
import torch
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed

from mechanisms.base.guard import generator
from mechanisms.base.mechanism import Mechanism
from mechanisms.privacy.gaussian_profile import GaussianProfile


class MechanismOptimizer(DPOptimizer):
    """opacus' DPOptimizer whose clipped sum of gradients is released by a mechanism.

    A step releases the gradients of all parameters as one answer of the mechanism's shape,
    flattened in the order of the optimizer's parameters. Clipping, accumulation and averaging are
    opacus'. As with opacus, a step of an empty Poisson sample must be taken too.

    Args:
        optimizer: Any torch optimizer of the parameters of a GradSampleModule.
        mechanism: Calibrated to a query whose size is the number of trainable parameters and
            whose l2 sensitivity is max_grad_norm under add-remove, 2 max_grad_norm under replace.
        max_grad_norm: Clipping bound of the l2 norm of each record's gradient, > 0.
        expected_batch_size: Expected records per step, the denominator of the mean.
        loss_reduction: "mean" or "sum".
        rng: Source of the noise; by default a new generator with a seed from the system, which is
            not cryptographic. "secure" is the operating system's generator, which is.

    `noise_multiplier` is 1 / mu where the mechanism's profile is that of a Gaussian, of any
    covariance, so that opacus' accountants account for it exactly. It is NaN for all other noise,
    for which opacus has no accountant: use `mechanisms.bridges.opacus_accountant`.

    Raises:
        TypeError: `mechanism` is not a calibrated Mechanism.
        ValueError: Its query does not fit the parameters or the clipping.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        *,
        mechanism: Mechanism,
        max_grad_norm: float,
        expected_batch_size: int | None,
        loss_reduction: str = "mean",
        rng: np.random.Generator | str | None = None,
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise TypeError(f"mechanism must be a calibrated Mechanism, got {mechanism!r}")
        super().__init__(
            optimizer,
            noise_multiplier=_noise_multiplier(mechanism),
            max_grad_norm=max_grad_norm,
            expected_batch_size=expected_batch_size,
            loss_reduction=loss_reduction,
        )
        _check_query(mechanism, sum(p.numel() for p in self.params), max_grad_norm)
        self.mechanism = mechanism
        self.rng = generator(rng)
        self._process = os.getpid()

    def add_noise(self) -> None:
        """Release the clipped sum of gradients; the result is in `p.grad`.

        Raises:
            RuntimeError: In a fork of the process that made the optimizer, whose copy of the
                generator would draw the same noise as that of every other process.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                f"this process {os.getpid()} is a fork of {self._process}, which made the "
                "optimizer, and both would draw the same noise; make an optimizer with a generator "
                "of its own in each process"
            )
        for p in self.params:
            _check_processed_flag(p.summed_grad)
        flat = torch.cat([p.summed_grad.reshape(-1).float().cpu() for p in self.params])
        value = flat.numpy().reshape(self.mechanism.query.shape)
        released = torch.from_numpy(self.mechanism.release(value, self.rng).reshape(-1))
        for p, part in zip(
            self.params, released.split([p.numel() for p in self.params]), strict=True
        ):
            p.grad = part.to(device=p.device, dtype=p.summed_grad.dtype).view_as(p)
            _mark_as_processed(p.summed_grad)

    def attach_step_hook(self, fn) -> None:
        """As opacus', for noise that the accountant of the hook knows.

        Raises ValueError for other noise: an accountant would take it for Gaussian noise.
        """
        if math.isnan(self.noise_multiplier) and not getattr(fn, "any_noise", False):
            raise ValueError(
                f"opacus has no accountant for the noise of {self.mechanism.key}; use "
                "mechanisms.bridges.opacus_accountant.ProfileAccountant"
            )
        super().attach_step_hook(fn)


def _noise_multiplier(mechanism: Mechanism) -> float:
    profile = mechanism.profile()
    if isinstance(profile, GaussianProfile) and profile.mu > 0:
        return 1 / profile.mu
    return math.nan


def _check_query(mechanism: Mechanism, parameters: int, max_grad_norm: float) -> None:
    query = mechanism.query
    if query.size != parameters:
        raise ValueError(
            f"the mechanism's query must have one element for each of the {parameters} trainable "
            f"parameters, got shape {query.shape} of {query.size}"
        )
    if query.adjacency == "local":
        raise ValueError(
            "the mechanism's query must have adjacency add-remove or replace: a sum of gradients "
            "is not a local answer"
        )
    change = max_grad_norm * (2 if query.adjacency == "replace" else 1)
    if not math.isclose(query.l2_sensitivity, change, rel_tol=1e-6):
        raise ValueError(
            f"under {query.adjacency} the clipped sum changes by {change:g}, which must be the "
            f"query's l2_sensitivity, got {query.l2_sensitivity:g}"
        )
