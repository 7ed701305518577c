"""VGG-16 for 3 x 32 x 32 images (Simonyan and Zisserman 2015, configuration D).

Group normalisation (Wu and He 2018) replaces batch normalisation, which mixes the records of a
batch, so that there are no per-record gradients. Without any normalisation 13 convolutions hardly
train. imgm2022 gives one shape of the fully connected layers, 1,024 x 512; here they go from 512 to
1,024 to 512 to 10.
"""

from learning.networks.multilayer_perceptron import fully_connected
from learning.networks.network import Layer, Network, layers, normalised_convolution
from learning.networks.pixels import pooled

# Channels of the convolutions; 2 x 2 maximum pooling follows each block.
BLOCKS = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
GROUPS = 32


def convolutions() -> tuple[Layer, ...]:
    """Each convolution and its normalisation."""
    found, width = [], 3
    for channels in (channels for block in BLOCKS for channels in block):
        found += normalised_convolution(width, channels, 3)
        width = channels
    return tuple(found)


def features(parameters, images, activation):
    """Features (n, 512) of images (n, 3, 32, 32)."""
    from torch.nn.functional import conv2d, group_norm

    remaining, x = iter(parameters), images
    for block in BLOCKS:
        for _ in block:
            (weight, _), normalisation = next(remaining), next(remaining)
            x = conv2d(x, weight, padding=1)
            x = activation(group_norm(x, GROUPS, *normalisation))
        # Normalisation is faster where the channels of a pixel are apart in memory.
        x = pooled(x).contiguous()
    return x.flatten(1)


def _vgg16(parameters, images):
    from torch.nn.functional import relu

    return fully_connected(parameters[-3:], features(parameters[:-3], images, relu))


VGG16 = Network(
    layers=(*convolutions(), *layers((1024, 512), (512, 1024), (10, 512))), apply=_vgg16
)
