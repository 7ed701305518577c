"""The weights of torchvision's MobileNetV2, trained on ImageNet: a download without records.

torchvision publishes two sets: the first repeats the training of the network's paper, the second
uses a longer recipe. This is the first. The weights are public, so no budget is spent on them.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading

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


def parse(path: Path) -> dict:
    """Tensors by the names of `torchvision.models.mobilenet_v2`.

    A pickle that contains anything else is refused.

    Raises:
        DataError: a file is not the published one.
    """
    import torch

    with reading(path, "not a file of tensors by name"):
        weights = torch.load(path, map_location="cpu", weights_only=True)
        trained = [name for name in weights if name.endswith(("weight", "bias"))]
        parameters = sum(weights[name].numel() for name in trained)
    require_rows(ENTRY, parameters=parameters)
    return weights
