"""AlexNet for 3 x 32 x 32 images: its five convolutions, all with 3 x 3 kernels.

imgm2022 gives one gradient shape, 4,096 x 512. It is taken as the first fully connected layer, from
the 4,096 = 256 x 4 x 4 outputs of the convolutions.
"""

from learning.networks.multilayer_perceptron import fully_connected
from learning.networks.network import Network, layers
from learning.networks.pixels import pooled

CONVOLUTIONS = layers(
    (64, 3, 3, 3), (192, 64, 3, 3), (384, 192, 3, 3), (256, 384, 3, 3), (256, 256, 3, 3)
)
# Convolutions that are followed by 2 x 2 maximum pooling.
_POOLED = (0, 1, 4)


def features(parameters, images, activation):
    """Outputs (n, 256, 4, 4) of the convolutions on images (n, 3, 32, 32)."""
    from torch.nn.functional import conv2d

    x = images
    for number, layer in enumerate(parameters):
        x = activation(conv2d(x, *layer, padding=1))
        if number in _POOLED:
            x = pooled(x)
    return x


def _alexnet(parameters, images):
    from torch.nn.functional import relu

    return fully_connected(parameters[-2:], features(parameters[:-2], images, relu))


ALEXNET = Network(layers=(*CONVOLUTIONS, *layers((512, 4096), (10, 512))), apply=_alexnet)
