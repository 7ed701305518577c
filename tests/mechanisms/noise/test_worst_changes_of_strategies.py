"""Strategies spend all of epsilon: the worst change by linear programmes."""

import math

import numpy as np
import pytest
from record_counts import counts
from scipy import optimize

from mechanisms import Budget, get_mechanism, verify
from mechanisms.noise.tree_laplace import TreeLaplace
from mechanisms.strategies.p_identity import search
from mechanisms.strategies.tree import BlockTree
from mechanisms.strategies.workload import Prefix
from mechanisms.verification.verification import HOLDS


def estimate(noise):
    """A (measurements, cells) and A^+ of a noisy tree, by dense algebra."""
    size = math.prod(noise.shape)
    levels = noise.tree.counts(np.eye(size).reshape(size, *noise.shape))
    strategy = np.concatenate([level.reshape(size, -1).T for level in levels])
    return strategy, np.linalg.pinv(strategy)


def least_l1(inverse, change):
    """min ||m||_1 subject to A^+ m = D: the largest log ratio of the released densities."""
    count = inverse.shape[1]
    found = optimize.linprog(
        np.ones(2 * count), A_eq=np.hstack([inverse, -inverse]), b_eq=change, bounds=(0, None)
    )
    return found.fun


@pytest.mark.parametrize(("shape", "branching", "height"), [((9,), 3, 2), ((8,), 2, 3),
                                                            ((4, 6), 2, 2)])  # fmt: skip
def test_the_cells_of_a_tree_spend_all_of_epsilon(shape, branching, height):
    noise = TreeLaplace(tree=BlockTree(shape=shape, branching=branching, height=height), scale=1.0)
    _, inverse = estimate(noise)
    one = np.zeros(math.prod(shape))
    one[1] = 1.0
    move = one.copy()
    move[-1] = -1.0
    for adjacency, change, loss in (
        ("add-remove", one, height), ("replace", move, 2 * height)
    ):  # fmt: skip
        assert least_l1(inverse, change) == pytest.approx(loss, rel=1e-9)
        bounds = noise.profile(counts(*shape, adjacency=adjacency)).epsilon(0.0)
        assert bounds == pytest.approx([loss] * 3, rel=1e-12)


@pytest.mark.parametrize(("height", "delta"), [(2, 0.1238), (3, 0.0691), (5, 0.0344)])
def test_the_noisy_tree_is_several_components(height, delta):
    tree = BlockTree(shape=(2**height,), branching=2, height=height)
    profile = TreeLaplace(tree=tree, scale=float(height)).profile(counts(2**height))
    assert profile.delta(0.5).upper == pytest.approx(delta, abs=6e-5)
    assert profile.delta(0.5).lower == 0


def test_a_p_identity_strategy_spends_all_of_epsilon():
    strategy = search(Prefix(16).gram())
    assert not strategy.is_identity
    inverse = np.linalg.pinv(strategy.matrix())
    losses = [least_l1(inverse, cell) for cell in np.eye(16)]
    assert max(losses) == pytest.approx(1.0, rel=1e-9)
    assert strategy.attained_share == pytest.approx(1.0, rel=1e-9)
    mechanism = get_mechanism("matrix-mechanism-l1").calibrate(
        counts(16), Budget(epsilon=0.7), workload="prefix"
    )
    result = verify(mechanism)
    assert result.verdict == HOLDS and result.wasted_variance == pytest.approx(1.0)
