"""Networks cut at the layer whose output is released, with tanh there (imgm2022 and tldp2025).

The body maps an input to features in (-1, 1), and the head maps features to logits. All activations
are tanh, as in imgm2022.
"""

from dataclasses import dataclass
from functools import partial

from learning.networks.deep_cnns import (
    ALEXNET_CONVOLUTIONS,
    alexnet_features,
    vgg_convolutions,
    vgg_features,
)
from learning.networks.lstm import mean_state
from learning.networks.network import Layer, Network, layers
from learning.networks.pixels import channels_together, pooled
from learning.records.texts import WORDS


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A network in two parts: the head takes the outputs of the body.

    Args:
        body: Maps inputs (n, ...) to features (n, d), all in (-1, 1).
        head: Maps features to logits (n, classes); its first layer is fully connected.
    """

    body: Network
    head: Network

    @property
    def features(self) -> int:
        """d, the number of features of one example."""
        return self.head.layers[0].weight[1]

    @property
    def whole(self) -> Network:
        """Body and head as one network, with the body's parameters first."""
        count = len(self.body.layers)

        def apply(parameters, inputs):
            return self.head.apply(parameters[count:], self.body.apply(parameters[:count], inputs))

        return Network(layers=self.body.layers + self.head.layers, apply=apply)


def tanh_perceptron(*widths: int) -> Network:
    """Return a network of affine maps between these widths with tanh between them.

    Inputs (n, ...) are flattened.
    """
    return Network(layers=layers(*zip(widths[1:], widths[:-1], strict=True)), apply=_perceptron)


def _perceptron(parameters, inputs):
    from torch.nn.functional import linear

    x = inputs.flatten(1)
    for weight, bias in parameters[:-1]:
        x = linear(x, weight, bias).tanh()
    return linear(x, *parameters[-1])


def _hidden(parameters, inputs):
    from torch.nn.functional import linear

    return linear(inputs.flatten(1), *parameters[0]).tanh()


def _pooled_convolutions(parameters, images, *, paddings):
    from torch.nn.functional import conv2d

    x = channels_together(images)
    for pair, padding in zip(parameters, paddings, strict=True):
        x = pooled(conv2d(x, *pair, padding=padding).tanh())
    return x.flatten(1)


def _vgg_body(parameters, images):
    import torch

    return vgg_features(parameters, images, torch.tanh)


def _alexnet_body(parameters, images):
    import torch

    return pooled(alexnet_features(parameters, images, torch.tanh)).flatten(1)


def cut_bilstm(words: int, dimensions: int, hidden: int, classes: int) -> Cut:
    """Return a network of an embedding and an LSTM in each direction, cut at their mean states.

    With the mean state over the text and the scaled embedding it learns within a few epochs.
    """
    gates = (Layer(weight=(4 * hidden, dimensions)), Layer(weight=(4 * hidden, hidden)))
    body = Network(
        layers=(Layer(weight=(words, dimensions), bias=False), *gates, *gates),
        apply=partial(mean_state, hidden=hidden, depth=1, bidirectional=True),
    )
    return Cut(body=body, head=tanh_perceptron(2 * hidden, classes))


# The cut networks by the names that configs use.
CUTS = {
    # 8 x 8 digits: one hidden layer.
    "perceptron": Cut(
        body=Network(layers=layers((32, 64)), apply=_hidden),
        head=tanh_perceptron(32, 10),
    ),
    # LeNet-5 with the 16 x 5 x 5 = 400 features of imgm2022 Table 1.
    "lenet": Cut(
        body=Network(
            layers=layers((6, 1, 5, 5), (16, 6, 5, 5)),
            apply=partial(_pooled_convolutions, paddings=(2, 0)),
        ),
        head=tanh_perceptron(400, 120, 84, 10),
    ),
    # A small CNN for 3 x 32 x 32 images: 64 x 2 x 2 features.
    "cnn": Cut(
        body=Network(
            layers=layers((32, 3, 3, 3), (64, 32, 3, 3), (64, 64, 3, 3)),
            apply=partial(_pooled_convolutions, paddings=(0, 0, 0)),
        ),
        head=tanh_perceptron(256, 64, 10),
    ),
    # The 512 features of imgm2022 Table 1 for CIFAR-10.
    "vgg16": Cut(
        body=Network(layers=vgg_convolutions(), apply=_vgg_body),
        head=tanh_perceptron(512, 1024, 512, 10),
    ),
    # The 1,024 = 256 x 2 x 2 features of imgm2022 Table 1 for SVHN.
    "alexnet": Cut(
        body=Network(layers=ALEXNET_CONVOLUTIONS, apply=_alexnet_body),
        head=tanh_perceptron(1024, 512, 10),
    ),
    # The 150 = 2 x 75 features of imgm2022 Table 1, and the 20,002 x 128 embedding of mgm2021.
    "bilstm": cut_bilstm(WORDS["imdb"] + 2, 128, 75, 2),
    # For the simulated reviews.
    "small-bilstm": cut_bilstm(WORDS["reviews"] + 2, 8, 8, 2),
}
