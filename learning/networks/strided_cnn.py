"""A small convolutional network with large strides and no normalisation: it learns in few steps."""

from learning.networks.memory_layout import channels_together
from learning.networks.network import Network, layers
from learning.networks.pooling import pooled


def strided_cnn(channels: int, side: int) -> Network:
    """A classifier of images (n, channels, side, side) into ten classes.

    It has two convolutions and a hidden layer of 32.
    """
    once = (side - 2) // 2 + 1
    pixels = ((once // 2 - 3) // 2 + 1) ** 2
    return Network(
        layers=layers((8, channels, 6, 6), (16, 8, 3, 3), (32, 16 * pixels), (10, 32)),
        apply=_apply,
    )


def _apply(parameters, images):
    from torch.nn.functional import conv2d, linear, relu

    x = channels_together(images)
    x = relu(pooled(conv2d(x, *parameters[0], stride=2, padding=2)))
    x = relu(conv2d(x, *parameters[1], stride=2))
    return linear(relu(linear(x.flatten(1), *parameters[2])), *parameters[3])
