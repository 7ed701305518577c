"""torchvision's MobileNetV2 trained further from its ImageNet weights (tldp2025, Section 5.1.1)."""

from __future__ import annotations

import sys
import time

import numpy as np

from experiments.learning.classifiers import Training, prepare
from experiments.learning.data import Split
from experiments.learning.pretrained import enlarged, network_of

_AT_ONCE = 50


def fine_tuned(
    weights: dict, data: Split, classes: int, training: Training, seed: int
) -> np.ndarray:
    """Test labels (n,) by the network with a new last layer, all of it trained.

    Images are enlarged as for its features. They are not shifted and scaled to ImageNet's mean and
    spread, from which released images are far: batch normalisation after the first convolution
    takes out a shift, but for the borders, and a common scale. The seed is that of the new layer,
    of the dropout before it and of the batches.

    Args:
        weights: Tensors by torchvision's names.
        data: Images (n, 1 or 3, height, width).
    """
    import torch
    from torch.nn.functional import cross_entropy

    device = prepare(training.device)
    torch.manual_seed(seed)
    network = network_of(weights)
    network.classifier[-1] = torch.nn.Linear(network.last_channel, classes)
    network.to(device).train()
    optimiser = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[training.optimiser](
        network.parameters(), lr=training.learning_rate
    )
    images, labels = torch.from_numpy(data.train_inputs), torch.from_numpy(data.train_labels)
    rng, clock = np.random.default_rng(seed), time.perf_counter()
    for epoch in range(1, training.epochs + 1):
        for chosen in torch.from_numpy(rng.permutation(len(labels))).split(training.batch):
            logits = network(enlarged(images[chosen].to(device)))
            loss = cross_entropy(logits, labels[chosen].to(device))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        spent = time.perf_counter() - clock
        left = spent / epoch * (training.epochs - epoch)
        print(
            f"MobileNetV2: epoch {epoch} of {training.epochs}, {spent:.0f} s, about {left:.0f} s "
            "left",
            file=sys.stderr,
            flush=True,
        )
    network.eval()
    with torch.inference_mode():
        found = [
            network(enlarged(part.to(device))).argmax(dim=1).cpu()
            for part in torch.from_numpy(data.test_inputs).split(_AT_ONCE)
        ]
    return torch.cat(found).numpy()
