"""opacus: the noise that its optimizer adds to the sum of clipped gradients."""

import torch
from opacus.accountants import RDPAccountant
from opacus.optimizers import DPOptimizer

NORM, MULTIPLIER, DELTA = 4.0, 4.0, 1e-5


def noise(secure):
    """Its accountant states epsilon of a step without sampling."""

    def make(seed=None):
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        weights = torch.nn.Parameter(torch.zeros(1))
        optimizer = DPOptimizer(
            torch.optim.SGD([weights], lr=1.0), noise_multiplier=MULTIPLIER, max_grad_norm=NORM,
            expected_batch_size=1, generator=generator, secure_mode=secure,
        )  # fmt: skip

        def release(values):
            weights.data = torch.zeros(len(values))
            weights.grad, weights.summed_grad = None, torch.tensor(values, dtype=torch.float32)
            optimizer.add_noise()
            return weights.grad.tolist()

        accountant = RDPAccountant()
        accountant.step(noise_multiplier=MULTIPLIER, sample_rate=1.0)
        return release, {
            "family": "gaussian", "scale": MULTIPLIER * NORM,
            "epsilon": accountant.get_epsilon(DELTA), "delta": DELTA, "norm": "l2",
        }  # fmt: skip

    return make


NOISES = {"DPOptimizer": noise(False), "DPOptimizer, secure_mode": noise(True)}
