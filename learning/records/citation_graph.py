"""Nodes of Cora's citation graph, each with the input of a graph convolution and a label.

The graph and the words of all nodes are public. A record is the label of a training node: adding or
removing it changes no other node's input, so that there are per-example gradients, as for any
other data.
"""

from pathlib import Path

import numpy as np

from datasets import load as load_dataset

SOURCES = {"cora": "official"}
# imgm2022 Table 1: 1,140 training nodes. The planetoid split has 140.
_FURTHER = 1_000


def load(dataset: str, folder: Path, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return float32 neighbourhoods (n, k, 2) and labels (n,), training before test.

    A neighbourhood lists the node's neighbours and the node itself: their numbers, and their
    weights in D^-1/2 (A + I) D^-1/2, where A has the edges and D the degrees of A + I (Kipf and
    Welling 2017). Unused places stand last and have weight 0. The 140 training nodes of the
    official split come first, then 1,000 drawn from the nodes in neither part of it, because
    imgm2022 does not say which ones it uses. The test nodes are the 1,000 official ones.
    """
    cora = load_dataset(dataset, folder)
    others = np.setdiff1d(np.arange(len(cora.labels)), np.concatenate([cora.train, cora.test]))
    train = np.concatenate([cora.train, np.sort(rng.choice(others, _FURTHER, replace=False))])
    inputs = neighbourhoods(cora.edges, len(cora.labels))
    return inputs[train], cora.labels[train], inputs[cora.test], cora.labels[cora.test]


def neighbourhoods(edges: np.ndarray, nodes: int) -> np.ndarray:
    """Return the neighbourhoods (nodes, k, 2) that distinct edges (e, 2) define; see `load`.

    k is the largest degree plus one.
    """
    loops = np.repeat(np.arange(nodes)[:, None], 2, axis=1)
    pairs = np.concatenate([edges, edges[:, ::-1], loops])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    degrees = np.bincount(pairs[:, 0], minlength=nodes)
    weights = 1 / np.sqrt(degrees[pairs[:, 0]] * degrees[pairs[:, 1]])
    places = np.arange(len(pairs)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    found = np.zeros((nodes, degrees.max(), 2), np.float32)
    found[pairs[:, 0], places] = np.stack([pairs[:, 1], weights], axis=1)
    return found


def mixed_words(folder: Path) -> np.ndarray:
    """Return the words of every node, 0 or 1, averaged over its neighbourhood: (nodes, 1433).

    Kipf and Welling 2017 scale a node's words to sum 1; plain gradient descent is then slow.
    """
    cora = load_dataset("cora", folder)
    words = cora.features
    near = neighbourhoods(cora.edges, len(cora.labels))
    mixed = np.zeros_like(words)
    for indices, weights in zip(near[..., 0].T.astype(int), near[..., 1].T, strict=True):
        used = weights > 0
        mixed[used] += weights[used, None] * words[indices[used]]
    return mixed
