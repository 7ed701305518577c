"""The networks of two tutorials that r1smg2024 uses (Section 7.3), and one for digits."""

from learning.networks.memory_layout import channels_together
from learning.networks.multilayer_perceptron import multilayer_perceptron
from learning.networks.network import Network, layers
from learning.networks.pooling import pooled


def _mnist_cnn(parameters, images):
    from torch.nn.functional import conv2d, linear, relu

    # "Same" padding at stride 2 gives 14 outputs per axis: three zeros on either side.
    x = channels_together(images)
    x = relu(pooled(conv2d(x, *parameters[0], stride=2, padding=3), stride=1))
    x = relu(pooled(conv2d(x, *parameters[1], stride=2), stride=1))
    return linear(relu(linear(x.flatten(1), *parameters[2])), *parameters[3])


def _cifar10_cnn(parameters, images):
    from torch.nn.functional import conv2d, linear, relu

    x = channels_together(images)
    x = relu(pooled(conv2d(x, *parameters[0])))
    x = relu(pooled(conv2d(x, *parameters[1])))
    x = relu(conv2d(x, *parameters[2]))
    return linear(relu(linear(x.flatten(1), *parameters[3])), *parameters[4])


# By data set.
TUTORIALS = {
    # 8 x 8 digits: one hidden layer of 32.
    "digits": multilayer_perceptron(64, 32, 10),
    # 28 x 28: the tutorial of TensorFlow Privacy that r1smg2024 cites as [36].
    "mnist": Network(
        layers=layers((16, 1, 8, 8), (32, 16, 4, 4), (32, 512), (10, 32)), apply=_mnist_cnn
    ),
    # 3 x 32 x 32: the CNN tutorial of TensorFlow that r1smg2024 cites as [44].
    "cifar10": Network(
        layers=layers((32, 3, 3, 3), (64, 32, 3, 3), (64, 64, 3, 3), (64, 1024), (10, 64)),
        apply=_cifar10_cnn,
    ),
}
