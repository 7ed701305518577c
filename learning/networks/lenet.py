"""LeNet-5 for 28 x 28 images, with the 120 x 400 layer of mgm2021 Table 2.

The paper states nothing else. Rectifiers and maximum pooling are used, as is common today, in
place of the sigmoids and average pooling of 1998.
"""

from learning.networks.memory_layout import channels_together
from learning.networks.network import Network, layers
from learning.networks.pooling import pooled


def _lenet(parameters, images):
    from torch.nn.functional import conv2d, linear, relu

    x = channels_together(images)
    x = relu(pooled(conv2d(x, *parameters[0], padding=2)))
    x = relu(pooled(conv2d(x, *parameters[1])))
    x = relu(linear(x.flatten(1), *parameters[2]))
    return linear(relu(linear(x, *parameters[3])), *parameters[4])


LENET = Network(
    layers=layers((6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84)), apply=_lenet
)
