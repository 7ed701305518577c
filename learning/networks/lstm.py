"""A long short-term memory for texts, with the 20,002 x 128 embedding of mgm2021 Table 2.

The paper gives the size of the embedding alone; as many hidden units are our choice, and so is that
the mean of all states, and not the last one, is classified: plain gradient descent learns
from it within the paper's few epochs.
"""

from __future__ import annotations

import functools

from learning.networks.network import Layer, Network
from learning.records.texts import WORDS

# Glorot's range for an embedding shrinks with the number of words; a layer after it expects
# inputs of about the size one.
EMBEDDING_SCALE = 20.0


def lstm(words: int, dimensions: int, hidden: int) -> Network:
    """Embedding, one layer of cells, two classes; inputs are word numbers (n, length) int64."""
    return Network(
        layers=(
            Layer(weight=(words, dimensions), bias=False),
            Layer(weight=(4 * hidden, dimensions)),
            Layer(weight=(4 * hidden, hidden), bias=False),
            Layer(weight=(2, hidden)),
        ),
        apply=functools.partial(_lstm, hidden),
    )


def _lstm(hidden, parameters, texts):
    import torch
    from torch.nn.functional import embedding, linear

    (words, _), (inner, bias), (recurrent, _), output = parameters
    vectors = embedding(texts, words) * EMBEDDING_SCALE
    # torch's own cells, which want a second bias.
    weights = {"weight_ih_l0": inner, "weight_hh_l0": recurrent, "bias_ih_l0": bias}
    weights["bias_hh_l0"] = torch.zeros_like(bias)
    states, _ = torch.func.functional_call(_cells(vectors.shape[-1], hidden), weights, (vectors,))
    return linear(states.mean(dim=1), *output)


@functools.cache
def _cells(dimensions: int, hidden: int):
    """torch's module without parameters of its own."""
    import torch

    return torch.nn.LSTM(dimensions, hidden, batch_first=True, device="meta")


IMDB_LSTM = lstm(WORDS["imdb"] + 2, 128, 128)
# For the simulated reviews.
REVIEWS_LSTM = lstm(WORDS["reviews"] + 2, 8, 8)
