"""Fine-tuning of torchvision's MobileNetV2 from its ImageNet weights (tldp2025, Section 5.1.1)."""

import time

import numpy as np

from learning.records.labelled import Split
from learning.training.classifiers import Training
from learning.training.device import prepared
from learning.training.pretrained import coloured, network_of

_AT_ONCE = 500


def fine_tuned(
    weights: dict, data: Split, classes: int, training: Training, seed: int
) -> np.ndarray:
    """Predicted test labels (n,) of the network with a new last layer, after training all of it.

    Images keep their size, as "no preprocessing or size-trimming is applied" (Section 5.2.1). They
    are not normalised to ImageNet's mean and spread either, from which released images are far:
    batch normalisation after the first convolution removes a shift, except at the borders, and a
    common scale. The seed determines the new layer, the dropout before it and the batches.

    Args:
        weights: Tensors under torchvision's names.
        data: Images (n, 1 or 3, height, width).

    Raises:
        ValueError: The last batch of an epoch has one record: batch normalisation needs two.
        ArithmeticError: A logit of the trained network is not finite.
    """
    import torch
    from torch.nn.functional import cross_entropy

    from learning.training.rounds import report

    records = len(data.train_labels)
    if records % training.batch == 1:
        raise ValueError(
            f"{records} records in batches of {training.batch} leave a last batch of one; "
            "batch normalisation needs two, so use one record more or fewer"
        )
    device = prepared(training.device)
    torch.manual_seed(seed)
    network = network_of(weights)
    network.classifier[-1] = torch.nn.Linear(network.last_channel, classes)
    network.to(device).train()
    optimiser = training.optimiser_of(network.parameters())
    images, labels = torch.from_numpy(data.train_inputs), torch.from_numpy(data.train_labels)
    rng, seconds = np.random.default_rng(seed), []
    for epoch in range(1, training.epochs + 1):
        clock = time.perf_counter()
        for chosen in torch.from_numpy(rng.permutation(records)).split(training.batch):
            logits = network(coloured(images[chosen].to(device)))
            optimiser.zero_grad()
            cross_entropy(logits, labels[chosen].to(device)).backward()
            optimiser.step()
        seconds.append(time.perf_counter() - clock)
        report("MobileNetV2", epoch, training.epochs, seconds)
    network.eval()
    with torch.inference_mode():
        logits = torch.cat(
            [
                network(coloured(part.to(device))).cpu()
                for part in torch.from_numpy(data.test_inputs).split(_AT_ONCE)
            ]
        )
    if not torch.isfinite(logits).all():
        raise ArithmeticError("training diverged: the logits of MobileNetV2 are not finite")
    return logits.argmax(dim=1).numpy()
