"""LSTM networks for texts: mgm2021's, and the bidirectional one of tldp2025.

All classify the mean of the states over the text, from which plain gradient descent learns within
the few epochs of the papers. mgm2021 gives only the size of the embedding, 20,002 x 128; 128 hidden
units are our choice. tldp2025 states two bidirectional layers of 256 units, pre-trained GloVe
vectors and a dropout of 0.3. Here the embedding is learned with the rest, because GloVe is not a
data set of this suite. Dropout is left out, because a network here is a function of its parameters
and inputs alone.
"""

import functools

from learning.networks.network import Layer, Network
from learning.records.texts import WORDS

# The factor on embedded words: Glorot's range shrinks with the number of words, but the next layer
# expects inputs of about unit size.
EMBEDDING_SCALE = 20.0


def lstm(
    words: int, dimensions: int, hidden: int, *, depth: int = 1, bidirectional: bool = False
) -> Network:
    """Return an embedding, LSTM layers, and an affine map of the mean state to two classes.

    Inputs are word numbers (n, length) int64, below `words`.

    Args:
        words: Rows of the embedding.
        dimensions: Columns of the embedding.
        hidden: Units of a layer, in each direction.
        depth: Number of layers.
        bidirectional: Whether a layer reads the text in both directions.
    """
    directions = 1 + bidirectional
    cells = []
    for layer in range(depth):
        inputs = dimensions if layer == 0 else directions * hidden
        recurrent = Layer(weight=(4 * hidden, hidden), bias=False)
        cells += [Layer(weight=(4 * hidden, inputs)), recurrent] * directions
    return Network(
        layers=(
            Layer(weight=(words, dimensions), bias=False),
            *cells,
            Layer(weight=(2, directions * hidden)),
        ),
        apply=functools.partial(_apply, hidden=hidden, depth=depth, bidirectional=bidirectional),
    )


def _apply(parameters, texts, **sizes):
    from torch.nn.functional import linear

    *body, output = parameters
    return linear(mean_state(body, texts, **sizes), *output)


def mean_state(parameters, texts, *, hidden, depth, bidirectional):
    """Return the last layer's states, averaged over each text: (n, directions * hidden).

    The parameters are the (weight, bias) of the embedding, and of the inputs and the states of
    every cell. `texts` has word numbers (n, length).
    """
    import torch
    from torch.nn.functional import embedding

    (words, _), *cells = parameters
    vectors = embedding(texts, words) * EMBEDDING_SCALE
    start = vectors.new_zeros(depth * (1 + bidirectional), len(texts), hidden)
    # torch's cells have a second bias; it is zero if the network has none.
    none = vectors.new_zeros(4 * hidden)
    weights = []
    for (inner, bias), (recurrent, second) in zip(cells[::2], cells[1::2], strict=True):
        weights += inner, recurrent, bias, none if second is None else second
    options = True, depth, 0.0, True, bidirectional, True
    states, _, _ = torch.lstm(vectors, (start, start), weights, *options)
    return states.mean(dim=1)


IMDB_LSTM = lstm(WORDS["imdb"] + 2, 128, 128)
# For the simulated reviews.
REVIEWS_LSTM = lstm(WORDS["reviews"] + 2, 8, 8)
