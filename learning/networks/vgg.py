"""VGG-16 for 3 x 32 x 32 images (Simonyan and Zisserman 2015, configuration D).

Without batch normalisation, which mixes the records of a batch, so that no gradient of a single
record would exist; group normalisation (Wu and He 2018), which looks at one image alone, takes its
place, as 13 convolutions without any hardly train. Of the fully connected layers imgm2022 gives
one shape, 1,024 x 512: here 512 to 1,024 to 512 to 10.
"""

from __future__ import annotations

from learning.networks.network import Layer, Network, layers

# Channels of the convolutions; a number of them, then a maximum over 2 x 2.
BLOCKS = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
GROUPS = 32


def convolutions() -> tuple[Layer, ...]:
    """Each convolution, without the bias that the normalisation would undo, and its scale."""
    found, width = [], 3
    for channels in (channels for block in BLOCKS for channels in block):
        found.append(Layer(weight=(channels, width, 3, 3), bias=False))
        # What is added to a scale of 1, and the shift.
        found.append(Layer(weight=(channels, 1), start="zeros"))
        width = channels
    return tuple(found)


def features(parameters, images, activation):
    """512 features of every image, (n, 512)."""
    from torch.nn.functional import conv2d, group_norm, max_pool2d

    remaining, x = iter(parameters), images
    for block in BLOCKS:
        for _ in block:
            (weight, _), (scale, shift) = next(remaining), next(remaining)
            x = conv2d(x, weight, padding=1)
            x = activation(group_norm(x, GROUPS, 1 + scale[:, 0], shift))
        x = max_pool2d(x, 2)
    return x.flatten(1)


def _vgg16(parameters, images):
    from torch.nn.functional import linear, relu

    x = features(parameters[:-3], images, relu)
    for layer in parameters[-3:-1]:
        x = relu(linear(x, *layer))
    return linear(x, *parameters[-1])


VGG16 = Network(
    layers=(*convolutions(), *layers((1024, 512), (512, 1024), (10, 512))), apply=_vgg16
)
