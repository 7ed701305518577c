"""ResNet-18 (He et al. 2016) for 32 x 32 images, with the 512 x 4608 layer of mgm2021 Table 2.

The first convolution is 3 x 3 at stride 1 without pooling, as usual for images of this size. Group
normalisation (Wu and He 2018) replaces batch normalisation: with the statistics of a batch one
record's gradient would depend on other records, and running averages are a state that no mechanism
protects.
"""

from learning.networks.network import Layer, Network, normalised_convolution

_GROUPS = 32
_WIDTHS = (64, 128, 256, 512)


def _plan() -> list[tuple[int, int, int]]:
    """(channels in, channels out, stride) of the eight blocks."""
    blocks, before = [], _WIDTHS[0]
    for width in _WIDTHS:
        for stride in (1 if width == before else 2, 1):
            blocks.append((before, width, stride))
            before = width
    return blocks


def _layers() -> tuple[Layer, ...]:
    found = [*normalised_convolution(3, _WIDTHS[0], 3)]
    for before, width, stride in _plan():
        found += [
            *normalised_convolution(before, width, 3),
            *normalised_convolution(width, width, 3),
        ]
        if stride > 1:
            found += normalised_convolution(before, width, 1)
    return (*found, Layer(weight=(10, _WIDTHS[-1])))


def _resnet(parameters, images):
    from torch.nn.functional import conv2d, group_norm, linear, relu

    remaining = iter(parameters)

    def normalised(x, stride):
        weight, _ = next(remaining)
        x = conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
        return group_norm(x, _GROUPS, *next(remaining))

    x = relu(normalised(images, 1))
    for _, _, stride in _plan():
        inside = normalised(relu(normalised(x, stride)), 1)
        x = relu(inside + (normalised(x, stride) if stride > 1 else x))
    return linear(x.mean(dim=(2, 3)), *next(remaining))


RESNET18 = Network(layers=_layers(), apply=_resnet)
