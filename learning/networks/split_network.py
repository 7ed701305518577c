"""The networks of mgm2021 Table 3, split between two participants and a server.

The paper names them (MLP, FCN, NN) and gives the number of features. Everything else is our choice:
a local model is one affine map with tanh, the last activation that the paper asks for; the server's
top model has one hidden layer of rectifiers, as wide as the features of one participant.
"""

from dataclasses import dataclass

from learning.networks.network import Network, layers


@dataclass(frozen=True, kw_only=True)
class SplitNetwork:
    """Two local models and a top model, with all parameters in one flat vector.

    `local` and `top` take the tensors of one copy and records (m, ...), or the stacked tensors of R
    copies and records (R, m, ...); their results have the same leading axes.

    Args:
        columns: The input columns of each of the two participants.
        features: n, the number of features that each participant releases for a record.
        classes: The number of classes.
    """

    columns: tuple[tuple[int, ...], tuple[int, ...]]
    features: int
    classes: int

    @property
    def network(self) -> Network:
        """The joint network: the layers of both local models, then those of the top model."""
        first, second = (len(columns) for columns in self.columns)
        n = self.features
        return Network(
            layers=layers((n, first), (n, second), (n, 2 * n), (self.classes, n)), apply=self._joint
        )

    def shares(self, inputs):
        """Return the participants' own columns of inputs (m, d): two tensors (m, d_i)."""
        return tuple(inputs[:, list(columns)] for columns in self.columns)

    def local(self, tensors, shares):
        """Return both participants' features (m, 2n), in (-1, 1), of their shares (m, d_i)."""
        import torch

        features = [affine(own, *pair) for own, pair in zip(shares, tensors[:2], strict=True)]
        return torch.tanh(torch.cat(features, dim=-1))

    def top(self, tensors, features):
        """Return the logits (m, classes) of both participants' features (m, 2n)."""
        return affine(affine(features, *tensors[2]).relu(), *tensors[3])

    def _joint(self, tensors, inputs):
        return self.top(tensors, self.local(tensors, self.shares(inputs)))


def affine(inputs, weight, bias):
    """Return inputs weight^T + bias, (m, n), from (m, d), (n, d) and (n,).

    All of them may instead be stacked on a first axis.
    """
    import torch
    from torch.nn.functional import linear

    if weight.dim() == 2:
        return linear(inputs, weight, bias)
    return torch.baddbmm(bias[:, None], inputs, weight.mT)


def halves(inputs: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the columns of the first half of `inputs` attributes, rounded down, and the rest."""
    return tuple(range(inputs // 2)), tuple(range(inputs // 2, inputs))


# Input columns of the first seven of Adult's fourteen attributes, age to occupation, and of the
# rest. Numeric attributes stand first, then the categories in the order of the file.
_ADULT = (0, 1, 2, *range(6, 51)), (3, 4, 5, *range(51, 105))

SPLIT_NETWORKS = {
    "adult": SplitNetwork(columns=_ADULT, features=10, classes=2),
    "location30": SplitNetwork(columns=halves(446), features=128, classes=30),
    "purchase100": SplitNetwork(columns=halves(600), features=64, classes=100),
    # The paper counts 6170 attributes; the file has 6169.
    "texas100": SplitNetwork(columns=halves(6169), features=64, classes=100),
    "breast_cancer": SplitNetwork(columns=halves(30), features=8, classes=2),
}
