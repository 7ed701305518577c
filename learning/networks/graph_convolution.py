"""The graph convolutional network of Kipf and Welling 2017 for Cora (imgm2022 Table 1)."""

from learning.networks.network import Network, layers

# 1,433 words, 16 hidden units, 7 classes. The table misprints the first weight as 1,436 x 16.
LAYERS = layers((16, 1433), (7, 16))


def gcn(mixed) -> Network:
    """Return a network of two graph convolutions with a rectifier between them, without dropout.

    An input is a node's neighbourhood (k, 2) from learning/records/citation_graph.py: numbers j and
    weights a_j. The node's logits are sum_j a_j W2 relu(W1 x_j + b1) + b2, where x_j is row j of
    `mixed`, and W1, b1, W2 and b2 are the parameters.

    Args:
        mixed: float32 (nodes, 1433), the words of every node averaged over its neighbourhood, as
            the first convolution does; public.
    """
    import torch
    from torch.nn.functional import linear, relu

    known = torch.from_numpy(mixed)

    def apply(parameters, nodes):
        numbers, weights, table = nodes[..., 0].long(), nodes[..., 1:], known.to(nodes.device)
        if torch.is_grad_enabled():
            # Rows are copied for every example, so that there are per-example gradients.
            hidden = linear(table[numbers], *parameters[0])
        else:
            hidden = linear(table, *parameters[0])[numbers]
        return linear((weights * relu(hidden)).sum(dim=1), *parameters[1])

    return Network(layers=LAYERS, apply=apply, shortened=_shortened)


def _shortened(nodes):
    """Cut neighbourhoods after the last place that any of them uses."""
    return nodes[:, : max(1, int((nodes[..., 1] > 0).sum(dim=1).max()))]
