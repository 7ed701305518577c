"""Small convolutional networks: LeNet-5, those of two tutorials, and one with large strides."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from learning.networks.multilayer_perceptron import fully_connected, multilayer_perceptron
from learning.networks.network import Network, layers
from learning.networks.pixels import channels_together, pooled


@dataclass(frozen=True, kw_only=True)
class Convolution:
    """A convolution, maximum pooling over 2 x 2 pixels, and a rectifier.

    Args:
        weight: The shape of the weight, (out, in, k, k).
        stride: Stride of the convolution.
        padding: Zeros on every side of an image.
        pooling: Stride of the pooling; None for no pooling.
    """

    weight: tuple[int, int, int, int]
    stride: int = 1
    padding: int = 0
    pooling: int | None = 2


def cnn(convolutions: Sequence[Convolution], *widths: int) -> Network:
    """Return convolutions followed by affine maps between these widths, with rectifiers between.

    The first width is the number of outputs of the convolutions, and the last is the number of
    classes.
    """
    affine = [(outputs, inputs) for inputs, outputs in pairwise(widths)]
    shapes = [each.weight for each in convolutions] + affine
    return Network(layers=layers(*shapes), apply=partial(_apply, convolutions=convolutions))


def _apply(parameters, images, *, convolutions):
    from torch.nn.functional import conv2d, relu

    x, count = channels_together(images), len(convolutions)
    for pair, each in zip(parameters[:count], convolutions, strict=True):
        x = conv2d(x, *pair, stride=each.stride, padding=each.padding)
        if each.pooling is not None:
            x = pooled(x, each.pooling)
        x = relu(x)
    return fully_connected(parameters[count:], x)


# For 28 x 28 images, with the 120 x 400 layer of mgm2021 Table 2. The paper states nothing else.
# Rectifiers and maximum pooling are used, as is common today, in place of the sigmoids and average
# pooling of 1998.
LENET = cnn(
    [Convolution(weight=(6, 1, 5, 5), padding=2), Convolution(weight=(16, 6, 5, 5))],
    *(400, 120, 84, 10),
)

# The networks of two tutorials that r1smg2024 uses (Section 7.3), and one for digits, by data set.
TUTORIALS = {
    # 8 x 8 digits: one hidden layer of 32.
    "digits": multilayer_perceptron(64, 32, 10),
    # 28 x 28: the tutorial of TensorFlow Privacy that r1smg2024 cites as [36]. "Same" padding at
    # stride 2 gives 14 outputs per axis: three zeros on either side.
    "mnist": cnn(
        [
            Convolution(weight=(16, 1, 8, 8), stride=2, padding=3, pooling=1),
            Convolution(weight=(32, 16, 4, 4), stride=2, pooling=1),
        ],
        *(512, 32, 10),
    ),
    # 3 x 32 x 32: the CNN tutorial of TensorFlow that r1smg2024 cites as [44].
    "cifar10": cnn(
        [
            Convolution(weight=(32, 3, 3, 3)),
            Convolution(weight=(64, 32, 3, 3)),
            Convolution(weight=(64, 64, 3, 3), pooling=None),
        ],
        *(1024, 64, 10),
    ),
}


def strided_cnn(channels: int, side: int) -> Network:
    """Return a network of two convolutions with large strides and a hidden layer of 32 units.

    It classifies images (n, channels, side, side) into ten classes, and learns in few steps.
    """
    once = (side - 2) // 2 + 1
    pixels = ((once // 2 - 3) // 2 + 1) ** 2
    convolutions = [
        Convolution(weight=(8, channels, 6, 6), stride=2, padding=2),
        Convolution(weight=(16, 8, 3, 3), stride=2, pooling=None),
    ]
    return cnn(convolutions, 16 * pixels, 32, 10)
