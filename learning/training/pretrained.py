"""torchvision's MobileNetV2 with ImageNet weights: its features, and its fine-tuning (tldp2025).

For features (Section 5.2.2) the paper replaces every ReLU6 by tanh, so that the features lie in
(-1, 1), and releases the input of the last fully connected layer. It does not say how images of 28
and 32 pixels are prepared. Here they are prepared as torchvision does for these weights: enlarged
to 256 pixels, cropped to the middle 224 and normalised. Grey images get three equal channels.
Fine-tuning (Section 5.2.1) keeps the original size.
"""

import time
from dataclasses import replace

import numpy as np

from learning.records.labelled import Split
from learning.training.classifiers import Training
from learning.training.device import prepared
from learning.training.extractor import Extracted

# The entry of `datasets` with the weights.
PRETRAINED = "mobilenet_v2"
FEATURES = 1280
# Numbers of enlarged and of small images processed at once.
_ENLARGED_AT_ONCE, _AT_ONCE = 50, 500


def extract(weights: dict, data: Split, device: str = "cpu") -> Extracted:
    """Compute the features of all images, none of which trained the network; see `features`."""
    split = replace(
        data,
        train_inputs=features(weights, data.train_inputs, device),
        test_inputs=features(weights, data.test_inputs, device),
    )
    return Extracted(split=split, public=0, test_accuracy=None)


def features(weights: dict, images: np.ndarray, device: str = "cpu") -> np.ndarray:
    """Compute the features of images.

    Args:
        weights: Tensors under torchvision's names.
        images: (n, 1 or 3, height, width) in [0, 1].
        device: "cpu", or "auto" for CUDA if available; results on CUDA differ from the CPU's.

    Returns:
        (n, 1280) float32 in (-1, 1).
    """
    import torch
    from torchvision.models import MobileNet_V2_Weights

    device = prepared(device)
    body, preparation = _body(weights).to(device), MobileNet_V2_Weights.IMAGENET1K_V1.transforms()
    with torch.inference_mode():
        found = [
            body(preparation(coloured(part.to(device)))).mean(dim=(2, 3)).cpu()
            for part in torch.from_numpy(images).split(_ENLARGED_AT_ONCE)
        ]
    return torch.cat(found).numpy()


def coloured(images):
    """Expand a tensor of grey images to three equal channels; coloured images do not change."""
    return images.expand(-1, 3, -1, -1)


def network_of(weights: dict):
    """Return torchvision's MobileNetV2 with these weights."""
    from torchvision.models import mobilenet_v2

    network = mobilenet_v2(weights=None)
    network.load_state_dict(weights)
    return network


def _body(weights: dict):
    """Return the network up to its last feature map, with tanh instead of ReLU6."""
    import torch

    network = network_of(weights)
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, torch.nn.ReLU6):
                setattr(module, name, torch.nn.Tanh())
    return network.features.eval()


def fine_tuned(
    weights: dict, data: Split, classes: int, training: Training, seed: int
) -> np.ndarray:
    """Train the whole network with a new last layer, and predict the test labels (n,).

    Images keep their size, because "no preprocessing or size-trimming is applied" (Section 5.2.1).
    Nor are they normalised to ImageNet's mean and standard deviation, from which those of released
    images are far. Batch normalisation after the first convolution removes a common scale, and a
    shift except at the borders. The seed determines the new layer, the dropout before it and the
    batches.

    Args:
        weights: Tensors under torchvision's names.
        data: Images (n, 1 or 3, height, width).

    Raises:
        ValueError: The last batch of an epoch has one record, but batch normalisation needs two.
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
