"""The networks of this suite written again as torch modules, which opacus needs."""

import torch
from opacus.layers import DPLSTM
from torch import nn

from learning.networks.lstm import EMBEDDING_SCALE
from learning.networks.network import Network
from learning.records.texts import WORDS


def copied(network: Network, model: nn.Module, parameters: torch.Tensor) -> nn.Module:
    """The module with the parameters of the network."""
    tensors = [each for pair in network.tensors(parameters) for each in pair if each is not None]
    trained = [each for each in model.parameters() if each.requires_grad]
    with torch.no_grad():
        for target, tensor in zip(trained, tensors, strict=True):
            target.copy_(tensor)
    return model


def perceptron() -> nn.Module:
    """ADULT_MLP."""
    return nn.Sequential(nn.Linear(105, 12), nn.ReLU(), nn.Linear(12, 2))


def tutorial() -> nn.Module:
    """TUTORIALS["mnist"]."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, stride=2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


class _Lstm(nn.Module):
    def __init__(self, words: int, dimensions: int, hidden: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, dimensions)
        self.cells = DPLSTM(dimensions, hidden, batch_first=True)
        # The network of this suite has only one of the two biases of a cell.
        spare = self.cells.l0.hh.bias.requires_grad_(False)
        spare.zero_()
        self.output = nn.Linear(hidden, 2)

    def forward(self, texts):
        states, _ = self.cells(self.words(texts) * EMBEDDING_SCALE)
        return self.output(states.mean(dim=1))


def imdb_lstm() -> nn.Module:
    """IMDB_LSTM."""
    return _Lstm(WORDS["imdb"] + 2, 128, 128)


class _Block(nn.Module):
    """Two convolutions of a ResNet and their shortcut."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.inside = nn.Sequential(
            *_normalised(before, width, 3, stride), nn.ReLU(), *_normalised(width, width, 3, 1)
        )
        shortcut = _normalised(before, width, 1, stride) if stride > 1 else []
        self.shortcut = nn.Sequential(*shortcut)

    def forward(self, x):
        return (self.inside(x) + self.shortcut(x)).relu()


def _normalised(before: int, width: int, side: int, stride: int) -> list[nn.Module]:
    convolution = nn.Conv2d(before, width, side, stride, padding=side // 2, bias=False)
    return [convolution, nn.GroupNorm(32, width)]


def resnet18() -> nn.Module:
    """RESNET18."""
    blocks = []
    for before, width, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
        blocks += _Block(before, width, stride), _Block(width, width, 1)
    return nn.Sequential(
        *_normalised(3, 64, 3, 1),
        nn.ReLU(),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(512, 10),
    )
