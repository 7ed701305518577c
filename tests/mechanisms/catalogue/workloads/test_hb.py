"""H_b against published values and dense linear algebra."""

import math

import numpy as np
import pytest
from queries import on_counts, tree_matrix

from mechanisms import Unsupported
from mechanisms.catalogue.workloads.hb import best_branching, tree_height
from mechanisms.noise.loss_moments import quadratic_form_cumulants
from mechanisms.noise.tree_laplace import TreeLaplace
from mechanisms.strategies.tree import BlockTree, TreeLeastSquares
from mechanisms.strategies.workload import (
    AllRange,
    Identity,
    Kronecker,
    Prefix,
)
from tests.mechanisms.range_workloads import random_ranges


def units(tree):
    """For each measurement, 1 there and 0 elsewhere: a list of arrays (measurements, *level)."""
    sizes = [math.prod(shape) for shape in tree.level_shapes]
    parts = np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1], axis=1)
    return [part.reshape(-1, *s) for part, s in zip(parts, tree.level_shapes, strict=True)]


# With b - 1 in place of b + 1, 81 and 109 cells would get 9 and 11, and 213 cells one level.
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 16, 81, 89, 100, 109, 125, 213, 1000, 1024, 1025])
def test_branching_is_the_best_of_all(cells):
    def cost(b):
        h = tree_height(cells, b)
        return 3 * (b - 1) * h**3 - 2 * (b + 1) * h**2

    candidates = range(2, max(cells, 2) + 1)
    assert best_branching(cells, 1) == min(candidates, key=cost)
    assert best_branching(cells, 2) == min(candidates, key=lambda b: b * tree_height(cells, b) ** 2)


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (37,), (5, 9), (1, 30), (8, 8)])
@pytest.mark.parametrize("branching", [2, 3])
def test_least_squares_agree_with_dense_algebra(shape, branching):
    tree = BlockTree(
        shape=shape, branching=branching, height=tree_height(max(shape), branching) + 1
    )
    rng = np.random.default_rng(1)
    variances = [rng.uniform(0.5, 3, level) for level in tree.level_shapes]
    if tree.height > 2:
        variances[1].flat[0] = np.inf
    solver = TreeLeastSquares(tree=tree, variances=tuple(variances))
    matrix = tree_matrix(tree)
    weighted = matrix.T / np.concatenate([v.ravel() for v in variances])
    covariance = np.linalg.inv(weighted @ matrix)
    columns = solver.estimate(units(tree)).reshape(len(matrix), -1)
    assert np.allclose(columns.T, covariance @ weighted, atol=1e-12)
    assert np.allclose(solver.cell_variances().ravel(), np.diag(covariance), rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "factors"),
    [
        ((37,), (AllRange(37),)),
        ((37,), (random_ranges(37, 12),)),
        ((6, 9), (Prefix(6), AllRange(9))),
        ((6, 9), (random_ranges(54, 20),)),
        ((1, 5), (Identity(1), Prefix(5))),
    ],
    ids=str,
)
def test_variance_of_a_workload_agrees_with_dense_algebra(shape, factors):
    noise = TreeLaplace(tree=BlockTree(shape=shape, branching=2, height=4), scale=3.0)
    columns = noise._solver.estimate(units(noise.tree)).reshape(-1, math.prod(shape))
    answers = columns @ Kronecker(factors).matrix().T
    expected = 2 * 3.0**2 * np.sum(answers**2)
    assert noise.workload_variance(factors) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("kind", "error"), [(AllRange, 6.40869236), (Prefix, 6.43381220)])
def test_variance_of_a_workload_at_1024(kind, error):
    """The same published values, computed as in the study."""
    noise, workload = on_counts("hb", 1024).noise, kind(1024)
    variance = noise.workload_variance((workload,)) / (2 * noise.scale**2)
    mean = noise.tree.height * variance / workload.queries
    assert math.sqrt(mean) == pytest.approx(error, abs=5.1e-9)


def test_variance_of_a_workload_is_not_computed_where_its_gram_is_too_large():
    assert on_counts("hb", 5000).noise.workload_variance((Prefix(5000),)) is None


def test_cumulants_of_the_loss():
    """Independent terms have the cumulants of Laplace noise."""
    identity = quadratic_form_cumulants(np.diag([1.0, 2.0]))
    laplace = on_counts("laplace", 1).loss().cumulants
    assert identity == pytest.approx([k * (1 + 2**i) for i, k in enumerate(laplace, 1)])


def test_cumulants_add_up_over_unequal_subtrees():
    """The top blocks of 37 cells are 4 of 9 cells and 1 of 1; the whole tree gives the same."""
    noise = TreeLaplace(tree=BlockTree(shape=(37,), branching=3, height=3), scale=2.0)
    columns = noise._solver.estimate(units(noise.tree))
    whole = quadratic_form_cumulants(columns @ columns.T) * 2.0 ** np.array([2, 4, 6, 8])
    assert noise.loss().cumulants == pytest.approx(whole, rel=1e-12)


def test_moments_of_large_subtrees_are_unsupported_but_not_the_mean():
    mechanism = on_counts("hb", 10**5)
    assert mechanism.expected_loss() > 0
    with pytest.raises(Unsupported, match="at most 2048 cells"):
        mechanism.loss()
