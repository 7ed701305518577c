"""Networks split between two participants and a server, of mgm2021 Table 3.

The paper names them (MLP, FCN, NN) and gives the size of the features. Everything else is our
choice: a local model is one affine map with tanh, as the paper asks of its last activation; the
server's top model has one hidden layer of rectifiers, as wide as one participant's features.
"""

from __future__ import annotations

from dataclasses import dataclass

from learning.networks.network import Network, layers


@dataclass(frozen=True, kw_only=True)
class SplitNetwork:
    """Two local models and the top one, with the parameters of all in one flat vector.

    Args:
        columns: Which inputs each of the two participants has.
        features: n, how many features each releases.
        classes: Of the labels.
    """

    columns: tuple[tuple[int, ...], tuple[int, ...]]
    features: int
    classes: int

    @property
    def network(self) -> Network:
        """The joint network: layers of both local models, and then of the top one."""
        first, second = (len(columns) for columns in self.columns)
        n = self.features
        return Network(
            layers=layers((n, first), (n, second), (n, 2 * n), (self.classes, n)), apply=self._joint
        )

    def local(self, tensors, inputs):
        """What the participants compute of inputs (m, d): two tensors (m, n) in (-1, 1)."""
        from torch import tanh
        from torch.nn.functional import linear

        return tuple(
            tanh(linear(inputs[:, list(columns)], *pair))
            for columns, pair in zip(self.columns, tensors, strict=False)
        )

    def top(self, tensors, features):
        """Logits (m, classes) of both participants' features."""
        import torch
        from torch.nn.functional import linear, relu

        hidden = relu(linear(torch.cat(features, dim=1), *tensors[2]))
        return linear(hidden, *tensors[3])

    def _joint(self, tensors, inputs):
        return self.top(tensors, self.local(tensors, inputs))


def halves(inputs: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first half of the attributes, and the rest."""
    return tuple(range(inputs // 2)), tuple(range(inputs // 2, inputs))


# The first seven of Adult's fourteen attributes, age to occupation, and the rest: where the inputs
# that stand for them are (numbers first, then the categories in the file's order).
_ADULT = (0, 1, 2, *range(6, 51)), (3, 4, 5, *range(51, 105))

SPLIT_NETWORKS = {
    "adult": SplitNetwork(columns=_ADULT, features=10, classes=2),
    "location30": SplitNetwork(columns=halves(446), features=128, classes=30),
    "purchase100": SplitNetwork(columns=halves(600), features=64, classes=100),
    # The paper counts 6170 attributes; the file has 6169.
    "texas100": SplitNetwork(columns=halves(6169), features=64, classes=100),
    "breast_cancer": SplitNetwork(columns=halves(30), features=8, classes=2),
}
