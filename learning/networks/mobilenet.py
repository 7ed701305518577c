"""MobileNetV2 (Sandler et al. 2018), tldp2025's network for images.

An inverted residual block has a 1 x 1 convolution that widens, a 3 x 3 convolution of each channel,
and a 1 x 1 convolution that narrows, with a shortcut if the shape stays the same. Batch
normalisation keeps averages of the training images beside the parameters. Group normalisation, used
here, has the same parameters and keeps no averages, so the parameters are the whole model. Its
scales are 1 + weight, and the weights start at zero, so that clipping parameters to [-1, 1] leaves
a scale room on either side of 1.

The paper starts from ImageNet weights, which belong to a network with batch normalisation. Here
training starts from scratch.
"""

from collections.abc import Iterator

from learning.networks.network import Layer, Network, normalised_convolution

_GROUP = 8


# (expansion, channels, blocks, stride of the first block) of every stage: Table 2 of Sandler et al.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
# Channels of the first convolution, 3 x 3 with stride 2, and those that are averaged at the end.
_STEM, _LAST = 32, 1280


def _blocks() -> Iterator[tuple[int, int, int, int]]:
    """Yield (channels in, channels of the middle, channels out, stride) of every block."""
    width = _STEM
    for expansion, narrowed, count, stride in _STAGES:
        for index in range(count):
            yield width, expansion * width, narrowed, stride if index == 0 else 1
            width = narrowed


def mobilenet(channels: int, classes: int) -> Network:
    """Return a classifier of images (n, channels, height, width) of any height and width."""
    layers = [*normalised_convolution(channels, _STEM, 3)]
    for width, wide, narrowed, _ in _blocks():
        if wide > width:
            layers += normalised_convolution(width, wide, 1)
        layers += normalised_convolution(1, wide, 3)
        layers += normalised_convolution(wide, narrowed, 1)
    layers += normalised_convolution(_STAGES[-1][1], _LAST, 1)
    return Network(layers=(*layers, Layer(weight=(classes, _LAST))), apply=_apply)


def _apply(parameters, images):
    from torch.nn.functional import linear

    pairs = iter(parameters)
    x = _convolved(pairs, images, stride=2).clamp(0, 6)
    for width, wide, _, stride in _blocks():
        start = x
        if wide > width:
            x = _convolved(pairs, x).clamp(0, 6)
        x = _convolved(pairs, x, stride=stride, groups=wide).clamp(0, 6)
        x = _convolved(pairs, x)
        if x.shape == start.shape:
            x = x + start
    x = _convolved(pairs, x).clamp(0, 6)
    return linear(x.mean(dim=(2, 3)), *next(pairs))


def _convolved(pairs, x, stride: int = 1, groups: int = 1):
    """Apply the next convolution and its normalisation, in groups of eight channels."""
    from torch.nn.functional import conv2d, group_norm

    weight, _ = next(pairs)
    x = conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2, groups=groups)
    return group_norm(x, x.shape[1] // _GROUP, *next(pairs))
