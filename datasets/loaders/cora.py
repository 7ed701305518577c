"""Cora: 2,708 papers, 1,433 words, 5,278 citations, with the planetoid split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.catalogue import require_rows
from datasets.fetching.checksums import local_files
from datasets.fetching.data_error import DataError
from datasets.formats.pickles import read_pickle

_VALIDATION = 500
_PICKLES = ("x", "y", "tx", "ty", "allx", "ally", "graph")


@dataclass(frozen=True, kw_only=True)
class Cora:
    """The graph; nodes are numbered 0..n-1 as in the files.

    Attributes:
        features: float32 (n, 1433), 1 where the paper has the word, else 0.
        labels: int64 (n,), 0..6.
        edges: int64 (e, 2), undirected, each once with the smaller node first, without
            self-loops, sorted.
        train, validation, test: int64 node numbers; the training nodes are the first 140, the
            validation nodes the 500 after them, the test nodes those of `test.index`, sorted.
    """

    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    edges: NDArray[np.int64]
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def load(folder: Path) -> Cora:
    """The graph with its planetoid split.

    Args:
        folder: the data folder given to `fetch`.

    Raises:
        DataError: files missing or changed, or other numbers of nodes, edges or split nodes.
    """
    cora = parse(local_files("cora", folder))
    require_rows(
        "cora",
        nodes=len(cora.labels),
        edges=len(cora.edges),
        train=len(cora.train),
        validation=len(cora.validation),
        test=len(cora.test),
    )
    return cora


def parse(files: Mapping[str, Path]) -> Cora:
    """The files `ind.cora.*` by name.

    `allx` and `ally` hold all nodes but the test ones in order; row k of `tx` and `ty` is the
    node that line k of `test.index` names.
    """
    part = {name: read_pickle(files[f"ind.cora.{name}"]) for name in _PICKLES}
    test = np.loadtxt(files["ind.cora.test.index"], dtype=np.int64, ndmin=1)
    known, nodes = part["allx"].shape[0], part["allx"].shape[0] + part["tx"].shape[0]
    if not np.array_equal(np.sort(test), np.arange(known, nodes)):
        raise DataError(f"{files['ind.cora.test.index']}: not the nodes {known}..{nodes - 1}")
    features = np.concatenate([part["allx"].toarray(), part["tx"].toarray()]).astype(np.float32)
    one_hot = np.concatenate([part["ally"], part["ty"]])
    features[test], one_hot[test] = features[known:].copy(), one_hot[known:].copy()
    labelled = part["x"].shape[0]
    return Cora(
        features=features,
        labels=one_hot.argmax(axis=1).astype(np.int64),
        edges=_edges(part["graph"]),
        train=np.arange(labelled),
        validation=np.arange(labelled, labelled + _VALIDATION),
        test=np.sort(test),
    )


def _edges(graph: Mapping[int, list[int]]) -> NDArray[np.int64]:
    pairs = np.array([(node, other) for node in graph for other in graph[node]], np.int64)
    pairs = np.sort(pairs.reshape(-1, 2), axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
