"""Networks of this suite written once more as modules, which is what opacus takes."""

from torch import nn

from learning.networks.vgg import BLOCKS, GROUPS


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


def lenet() -> nn.Module:
    """LENET."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def vgg16() -> nn.Module:
    """VGG16."""
    modules, width = [], 3
    for block in BLOCKS:
        for channels in block:
            modules += [
                nn.Conv2d(width, channels, 3, padding=1, bias=False),
                nn.GroupNorm(GROUPS, channels),
                nn.ReLU(),
            ]
            width = channels
        modules.append(nn.MaxPool2d(2))
    fully = [nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10)]
    return nn.Sequential(*modules, nn.Flatten(), *fully)
