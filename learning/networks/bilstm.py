"""Bidirectional long short-term memories, the network of tldp2025 for texts.

The paper states two layers of 256 and GloVe vectors, which are no data set of this suite: here the
embedding is learned with the rest. What is classified is the mean of all states, our choice, and
its dropout of 0.3 is left out: a network here is a function of parameters and inputs alone.
"""

from __future__ import annotations

import functools

from learning.networks.network import Layer, Network

# Glorot's range for an embedding shrinks with the number of words; a layer after it expects
# inputs of about the size one.
_EMBEDDING_SCALE = 20.0


def bilstm(words: int, dimensions: int, hidden: int, depth: int) -> Network:
    """Embedding, `depth` layers of cells in both directions, two classes.

    Inputs are word numbers (n, length) int64, below `words`.
    """
    cells = []
    for layer in range(depth):
        inputs = dimensions if layer == 0 else 2 * hidden
        for _ in ("forwards", "backwards"):
            cells.append(Layer(weight=(4 * hidden, inputs)))
            cells.append(Layer(weight=(4 * hidden, hidden), bias=False))
    return Network(
        layers=(
            Layer(weight=(words, dimensions), bias=False),
            *cells,
            Layer(weight=(2, 2 * hidden)),
        ),
        apply=functools.partial(_apply, hidden=hidden, depth=depth),
    )


def _apply(parameters, texts, *, hidden, depth):
    import torch
    from torch.nn.functional import embedding, linear

    (words, _), *cells, output = parameters
    vectors = embedding(texts, words) * _EMBEDDING_SCALE
    weights = {}
    names = [f"l{layer}{way}" for layer in range(depth) for way in ("", "_reverse")]
    for name, (inner, bias), (recurrent, _) in zip(names, cells[::2], cells[1::2], strict=True):
        weights[f"weight_ih_{name}"], weights[f"weight_hh_{name}"] = inner, recurrent
        # torch wants a second bias.
        weights[f"bias_ih_{name}"], weights[f"bias_hh_{name}"] = bias, torch.zeros_like(bias)
    states, _ = torch.func.functional_call(
        _cells(vectors.shape[-1], hidden, depth), weights, (vectors,)
    )
    return linear(states.mean(dim=1), *output)


@functools.cache
def _cells(dimensions: int, hidden: int, depth: int):
    """torch's module without parameters of its own."""
    import torch

    return torch.nn.LSTM(
        dimensions, hidden, depth, batch_first=True, bidirectional=True, device="meta"
    )
