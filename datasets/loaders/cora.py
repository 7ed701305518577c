"""Cora: 2,708 papers, 1,433 words, 5,278 citations, with the planetoid split.

One record is one paper. Adjacency by node changes its words, its class and all its citations;
adjacency by edge changes one citation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading
from datasets.formats.pickles import read_pickle

_PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"


def _file(part: str, size: int, sha256: str) -> RemoteFile:
    name = f"ind.cora.{part}"
    return RemoteFile(name=name, urls=(f"{_PLANETOID}/{name}",), bytes=size, sha256=sha256)


ENTRY = Dataset(
    name="cora",
    title="Cora citation graph, planetoid split",
    source="official",
    licence="no data licence stated; the planetoid repository is MIT",
    citation="Sen et al. Collective classification in network data. AI Magazine 29(3), 2008; "
    "split: Yang, Cohen, Salakhutdinov. Revisiting semi-supervised learning with graph "
    "embeddings. ICML 2016",
    record="one paper with its citations",
    rows={"nodes": 2_708, "edges": 5_278, "train": 140, "validation": 500, "test": 1_000},
    files=(
        _file("x", 22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
        _file("y", 4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
        _file("tx", 148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
        _file("ty", 28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
        _file("allx", 257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
        _file("ally", 47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
        _file("graph", 59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
        _file(
            "test.index",
            5000,
            "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        ),
    ),
)


_VALIDATION = 500


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


def parse(*files: Path) -> Cora:
    """Read the graph with its planetoid split.

    `allx` and `ally` hold all nodes but the test nodes, in order, and `x` and `y` the first of
    these. Row k of `tx` and `ty` is the node that line k of `test.index` names.

    Raises:
        DataError: a file is not the published one.
    """
    x, _, tx, ty, allx, ally, graph = map(read_pickle, files[:-1])
    with reading(files[0].parent, "the files do not fit together"):
        test = np.loadtxt(files[-1], np.int64, ndmin=1)
        features = np.concatenate([allx.toarray(), tx.toarray()])
        one_hot = np.concatenate([ally, ty])
        labelled, known, nodes = x.shape[0], len(ally), len(features)
        features[test], one_hot[test] = features[known:].copy(), one_hot[known:].copy()
        edges = _edges(graph)
    split = {"train": labelled, "validation": _VALIDATION, "test": len(test)}
    require_rows(ENTRY, nodes=nodes, edges=len(edges), **split)
    return Cora(
        features=features.astype(np.float32),
        labels=one_hot.argmax(axis=1).astype(np.int64),
        edges=edges,
        train=np.arange(labelled),
        validation=np.arange(labelled, labelled + _VALIDATION),
        test=np.sort(test),
    )


def _edges(graph: Mapping[int, list[int]]) -> NDArray[np.int64]:
    pairs = np.sort([(node, other) for node in graph for other in graph[node]], axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
