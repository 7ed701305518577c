"""Nodes of Cora's citation graph: what a graph convolution sees of each, and their labels.

The graph and the words of all nodes are public. A record is a training node's label: adding or
removing it leaves every other node's input as it was, so that gradients of single examples are
what they are for any other data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets import load as load_dataset

SOURCES = {"cora": "official", "cora-planetoid": "official"}
# imgm2022 Table 1: 1,140 training nodes. The planetoid split has 140.
_FURTHER = 1_000


def load(dataset: str, folder: Path, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """float32 neighbourhoods (n, k, 2) and labels, training before test.

    Of every node the numbers of its neighbours and of itself, and their weights in
    D^-1/2 (A + I) D^-1/2 (Kipf and Welling 2017); places without a neighbour have weight 0 and
    stand last. "cora-planetoid" has the 140 training nodes of the official split. "cora" has 1,000
    more, drawn from those that are not for testing: which ones imgm2022 means is not stated. The
    1,000 test nodes are the official ones of either.
    """
    cora = load_dataset("cora", folder)
    train = cora.train
    if dataset == "cora":
        others = np.setdiff1d(np.arange(len(cora.labels)), np.concatenate([train, cora.test]))
        train = np.concatenate([train, np.sort(rng.choice(others, _FURTHER, replace=False))])
    inputs = neighbourhoods(cora.edges, len(cora.labels))
    return inputs[train], cora.labels[train], inputs[cora.test], cora.labels[cora.test]


def neighbourhoods(edges: np.ndarray, nodes: int) -> np.ndarray:
    """(nodes, k, 2) of edges (e, 2), each once, k the largest degree plus one; see `load`."""
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
    """float32 (nodes, 1433): words of every node, 0 or 1, averaged by the weights.

    Kipf and Welling 2017 scale them to sum 1, at which plain gradient descent is slow.
    """
    cora = load_dataset("cora", folder)
    words = cora.features
    near = neighbourhoods(cora.edges, len(cora.labels))
    mixed = np.zeros_like(words)
    for indices, weights in zip(near[..., 0].T.astype(int), near[..., 1].T, strict=True):
        used = weights > 0
        mixed[used] += weights[used, None] * words[indices[used]]
    return mixed
