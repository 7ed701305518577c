"""Features of images from torchvision's MobileNetV2 with ImageNet weights (tldp2025, 5.2.2).

The paper replaces every ReLU6 by tanh, so that features lie in (-1, 1), and releases the input of
the last fully connected layer. It does not say how images of 28 and 32 pixels are prepared. Here
they are prepared as torchvision does for these weights: enlarged to 256 pixels, cropped to the
middle 224, grey ones in three equal channels. Fine-tuning keeps the original size: finetuned.py.
"""

import sys
import time
from dataclasses import replace

import numpy as np

from learning.records.labelled import Split
from learning.training.device import prepared
from learning.training.extractor import Extracted

# The entry of `datasets` with the weights.
PRETRAINED = "mobilenet_v2"
FEATURES = 1280
_AT_ONCE = 50
# Mean and spread of ImageNet's channels, from torchvision's transforms for these weights.
_MEANS, _SPREADS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def extract(weights: dict, data: Split, device: str = "cpu") -> Extracted:
    """Features of all images; the network was trained on none of them. See `features`."""
    split = replace(
        data,
        train_inputs=features(weights, data.train_inputs, device),
        test_inputs=features(weights, data.test_inputs, device),
    )
    return Extracted(split=split, public=0, test_accuracy=None)


def features(weights: dict, images: np.ndarray, device: str = "cpu") -> np.ndarray:
    """Features of images.

    Args:
        weights: Tensors under torchvision's names.
        images: (n, 1 or 3, height, width) in [0, 1].
        device: "cpu", or "auto" for CUDA where there is one; its results are not the CPU's.

    Returns:
        (n, 1280) float32 in (-1, 1).
    """
    import torch
    from torchvision.transforms.functional import normalize

    device = prepared(device)
    body = _body(weights).to(device)
    found, clock, reported = [], time.perf_counter(), 0
    with torch.inference_mode():
        for part in torch.from_numpy(images).split(_AT_ONCE):
            shown = normalize(_enlarged(part.to(device)), _MEANS, _SPREADS)
            found.append(body(shown).mean(dim=(2, 3)).cpu())
            done, spent = min(_AT_ONCE * len(found), len(images)), time.perf_counter() - clock
            if spent > reported + 10:
                reported, left = spent, spent / done * (len(images) - done)
                print(
                    f"features of {done:,} of {len(images):,} images, {spent:.0f} s, about "
                    f"{left:.0f} s left",
                    file=sys.stderr,
                    flush=True,
                )
    return torch.cat(found).numpy()


def coloured(images):
    """A tensor of grey or coloured images with three channels."""
    return images.expand(-1, 3, -1, -1)


def _enlarged(images):
    """Images in three channels, enlarged to 256 x 256 pixels and cropped to the middle 224."""
    from torchvision.transforms.functional import center_crop, resize

    return center_crop(resize(coloured(images), [256], antialias=True), [224])


def network_of(weights: dict):
    """torchvision's MobileNetV2 with these weights."""
    from torchvision.models import mobilenet_v2

    network = mobilenet_v2(weights=None)
    network.load_state_dict(weights)
    return network


def _body(weights: dict):
    """The network up to its last feature map, with tanh instead of ReLU6."""
    import torch

    network = network_of(weights)
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, torch.nn.ReLU6):
                setattr(module, name, torch.nn.Tanh())
    return network.features.eval()
