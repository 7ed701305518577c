"""The weights of torchvision's MobileNetV2, trained on ImageNet: a data set without records.

torchvision publishes two sets of weights. This is the first, which reproduces the accuracy of the
network's paper. The weights are public, so they cost no privacy budget.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading

ENTRY = Dataset(
    name="mobilenet_v2",
    title="MobileNetV2 weights of torchvision (IMAGENET1K_V1)",
    source="official",
    licence="BSD 3-Clause (torchvision); ImageNet has its own terms",
    citation="Sandler, Howard, Zhu, Zhmoginov, Chen. MobileNetV2: inverted residuals and "
    "linear bottlenecks. CVPR 2018; weights by the torchvision maintainers",
    record="none: the weights of a network trained on public images",
    rows={"parameters": 3_504_872},
    files=(
        # The name of the file has the first digits of its sha256; PyTorch publishes no more.
        RemoteFile(
            name="mobilenet_v2-b0353104.pth",
            urls=("https://download.pytorch.org/models/mobilenet_v2-b0353104.pth",),
            sha256="b0353104",
        ),
    ),
)


def parse(path: Path) -> dict:
    """Return the tensors by their names in `torchvision.models.mobilenet_v2`.

    The pickle is read with `weights_only`, so it cannot run code.

    Raises:
        DataError: the file cannot be read, or has the wrong number of parameters.
    """
    import torch

    with reading(path, "not a file of named tensors"):
        weights = torch.load(path, map_location="cpu", weights_only=True)
        # The other tensors are the statistics of batch normalization.
        parameters = sum(
            tensor.numel() for name, tensor in weights.items() if name.endswith(("weight", "bias"))
        )
    require_rows(ENTRY, parameters=parameters)
    return weights
