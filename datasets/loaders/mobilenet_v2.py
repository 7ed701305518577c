"""The weights of torchvision's MobileNetV2, trained on ImageNet: a download without records.

torchvision publishes two sets: the first repeats the training of the network's paper, the second
uses a longer recipe. This is the first. The weights are public, so no budget is spent on them.
"""

from __future__ import annotations

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError

ENTRY = Dataset(
    name="mobilenet_v2",
    title="MobileNetV2 of torchvision (IMAGENET1K_V1)",
    source="official",
    licence="BSD 3-Clause (torchvision); ImageNet has its own terms",
    citation="Sandler, Howard, Zhu, Zhmoginov, Chen. MobileNetV2: inverted residuals and "
    "linear bottlenecks. CVPR 2018; weights by the torchvision maintainers",
    record="none: the weights of a network trained on public images",
    rows={"parameters": 3_504_872},
    files=(
        # PyTorch names its files by the first digits of their checksums.
        RemoteFile(
            name="mobilenet_v2-b0353104.pth",
            urls=("https://download.pytorch.org/models/mobilenet_v2-b0353104.pth",),
            sha256="b0353104",
        ),
    ),
)


FILE = "mobilenet_v2-b0353104.pth"


def load(folder: Path) -> dict:
    """Tensors by the names of `torchvision.models.mobilenet_v2`.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: file missing or changed, not tensors by name, or not 3,504,872 parameters.
    """
    path = local_files(ENTRY, folder)[FILE]
    weights = parse(path)
    parameters = sum(
        tensor.numel() for name, tensor in weights.items() if name.endswith(("weight", "bias"))
    )
    require_rows(ENTRY, parameters=parameters)
    return weights


def parse(path: Path) -> dict:
    """A file of tensors by name; a pickle that contains anything else is refused."""
    import pickle

    import torch

    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise DataError(
            f"{path}: not a file of weights ({error}); fetch mobilenet_v2 again"
        ) from error
    if not isinstance(weights, dict) or not all(map(torch.is_tensor, weights.values())):
        raise DataError(f"{path}: not tensors by name; fetch mobilenet_v2 again")
    return weights
