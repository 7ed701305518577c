"""Groups of cells that a workload asks for together, from coarse to fine.

V = W^T W shows which cells belong together, whatever their order. No query distinguishes cells with
equal rows of V, and V_ij / sqrt(V_ii V_jj) is the (uncentred) correlation of columns i and j of W.
"""

from typing import NamedTuple

import numpy as np
import scipy


class GroupedGram(NamedTuple):
    """A workload's V for strategies that treat all cells of a group alike.

    Args:
        gram: (k, k), sums of V over pairs of groups.
        own: (k,), sums of the diagonal of V over groups.
        sizes: (k,), cells per group.
    """

    gram: np.ndarray
    own: np.ndarray
    sizes: np.ndarray


def grouped(gram: np.ndarray, labels: np.ndarray) -> GroupedGram:
    """Sum V = `gram` (n, n) over groups; `labels` (n,) holds the group of every cell, from 0."""
    members = np.eye(labels.max() + 1)[labels]
    return GroupedGram(
        members.T @ gram @ members, members.T @ np.diag(gram), np.bincount(labels).astype(float)
    )


def distinct_cells(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group the cells that no query of the workload tells apart.

    Returns:
        One cell of each group, (k,), in ascending order, and the group of every cell, (n,).
    """
    _, first, labels = np.unique(gram, axis=0, return_index=True, return_inverse=True)
    return np.sort(first), np.argsort(np.argsort(first))[labels.ravel()]


def bisected(gram: np.ndarray, least_groups: int) -> list[np.ndarray]:
    """Divide the cells into halves, quarters and so on, until there are `least_groups` groups.

    A group is cut at the median of the first principal component of its correlations. So the cells
    of a line are cut into intervals, even if they are permuted. With too few cells the list is
    shorter.

    Returns:
        The group of every cell, (n,), at every level: 2, 4, ... groups.
    """
    norms = np.sqrt(np.diag(gram))
    norms = np.where(norms > 0, norms, 1.0)
    correlations = gram / np.outer(norms, norms)
    groups, levels = [np.arange(len(gram))], []
    while len(groups) < least_groups and 2 * len(groups) <= len(gram):
        halves = []
        for cells in groups:
            inner = correlations[np.ix_(cells, cells)]
            inner = inner - inner.mean(axis=0)
            inner -= inner.mean(axis=1, keepdims=True)
            last = len(cells) - 1
            _, component = scipy.linalg.eigh(inner, subset_by_index=(last, last))
            order = np.argsort(component[:, 0], kind="stable")
            halves += np.array_split(cells[order], 2)
        groups = halves
        labels = np.empty(len(gram), dtype=int)
        for number, cells in enumerate(groups):
            labels[cells] = number
        levels.append(labels)
    return levels


def sums_of_groups(levels: list[np.ndarray], rows: int) -> np.ndarray:
    """Return the indicator rows of all cells, halves, quarters, ..., then zeros, (rows, n)."""
    cells = len(levels[0])
    each = [np.ones((1, cells)), *(np.eye(labels.max() + 1)[labels].T for labels in levels)]
    found = np.concatenate(each)[:rows]
    return np.concatenate([found, np.zeros((rows - len(found), cells))])
