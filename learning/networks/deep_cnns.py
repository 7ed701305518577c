"""AlexNet, VGG-16 and ResNet-18 for 3 x 32 x 32 images, in the sizes that the papers give.

AlexNet has its five convolutions, all with 3 x 3 kernels. imgm2022 gives one gradient shape, 4,096
x 512. It is taken as the first fully connected layer, from the 4,096 = 256 x 4 x 4 outputs of the
convolutions.

VGG-16 is configuration D of Simonyan and Zisserman 2015. Without any normalisation, 13 convolutions
hardly train. imgm2022 gives one shape of the fully connected layers, 1,024 x 512; here the layers
go from 512 to 1,024 to 512 to 10.

ResNet-18 (He et al. 2016) has the 512 x 4608 layer of mgm2021 Table 2. The first convolution is 3 x
3 at stride 1 without pooling, as usual for images of this size.

Group normalisation (Wu and He 2018) replaces batch normalisation in VGG-16 and ResNet-18. With the
statistics of a batch, one record's gradient would depend on other records, and no mechanism
protects the running averages.
"""

from itertools import chain, pairwise

from learning.networks.multilayer_perceptron import fully_connected
from learning.networks.network import Layer, Network, layers, normalised_convolution
from learning.networks.pixels import pooled

ALEXNET_CONVOLUTIONS = layers(
    (64, 3, 3, 3), (192, 64, 3, 3), (384, 192, 3, 3), (256, 384, 3, 3), (256, 256, 3, 3)
)
# Convolutions of AlexNet that are followed by 2 x 2 maximum pooling.
_POOLED = (0, 1, 4)


def alexnet_features(parameters, images, activation):
    """Return the outputs (n, 256, 4, 4) of the convolutions on images (n, 3, 32, 32)."""
    from torch.nn.functional import conv2d

    x = images
    for number, layer in enumerate(parameters):
        x = activation(conv2d(x, *layer, padding=1))
        if number in _POOLED:
            x = pooled(x)
    return x


def _alexnet(parameters, images):
    from torch.nn.functional import relu

    return fully_connected(parameters[-2:], alexnet_features(parameters[:-2], images, relu))


ALEXNET = Network(layers=(*ALEXNET_CONVOLUTIONS, *layers((512, 4096), (10, 512))), apply=_alexnet)


# Groups of channels that are normalised together.
GROUPS = 32
# Channels of the convolutions of VGG-16; 2 x 2 maximum pooling follows each block.
BLOCKS = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


def vgg_convolutions() -> tuple[Layer, ...]:
    """Return the layers of every convolution and its normalisation, in order."""
    found = []
    for before, width in pairwise((3, *chain(*BLOCKS))):
        found += normalised_convolution(before, width, 3)
    return tuple(found)


def vgg_features(parameters, images, activation):
    """Return the features (n, 512) of images (n, 3, 32, 32)."""
    from torch.nn.functional import conv2d, group_norm

    remaining, x = iter(parameters), images
    for block in BLOCKS:
        for _ in block:
            (weight, _), normalisation = next(remaining), next(remaining)
            x = conv2d(x, weight, padding=1)
            x = activation(group_norm(x, GROUPS, *normalisation))
        # Normalisation is faster if the channels of a pixel are apart in memory.
        x = pooled(x).contiguous()
    return x.flatten(1)


def _vgg16(parameters, images):
    from torch.nn.functional import relu

    return fully_connected(parameters[-3:], vgg_features(parameters[:-3], images, relu))


VGG16 = Network(
    layers=(*vgg_convolutions(), *layers((1024, 512), (512, 1024), (10, 512))), apply=_vgg16
)


# Channels of the blocks of ResNet-18.
_WIDTHS = (64, 128, 256, 512)


def _plan() -> list[tuple[int, int, int]]:
    """Return (channels in, channels out, stride) of each of the eight blocks."""
    blocks = []
    for before, width in pairwise((_WIDTHS[0], *_WIDTHS)):
        blocks += [(before, width, 1 if width == before else 2), (width, width, 1)]
    return blocks


def _layers() -> tuple[Layer, ...]:
    found = [*normalised_convolution(3, _WIDTHS[0], 3)]
    for before, width, stride in _plan():
        found += normalised_convolution(before, width, 3)
        found += normalised_convolution(width, width, 3)
        if stride > 1:
            found += normalised_convolution(before, width, 1)
    return (*found, Layer(weight=(10, _WIDTHS[-1])))


def _resnet(parameters, images):
    from torch.nn.functional import conv2d, group_norm, linear, relu

    remaining = iter(parameters)

    def normalised(x, stride):
        weight, _ = next(remaining)
        x = conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
        return group_norm(x, GROUPS, *next(remaining))

    x = relu(normalised(images, 1))
    for _, _, stride in _plan():
        inside = normalised(relu(normalised(x, stride)), 1)
        x = relu(inside + (normalised(x, stride) if stride > 1 else x))
    return linear(x.mean(dim=(2, 3)), *next(remaining))


RESNET18 = Network(layers=_layers(), apply=_resnet)
