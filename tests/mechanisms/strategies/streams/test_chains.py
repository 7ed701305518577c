"""Chains of participations against all patterns of one person at small n."""

import itertools

import numpy as np
import pytest
from scipy import optimize

from mechanisms.strategies.streams.chains import Chains
from mechanisms.strategies.streams.participation import Participation

PLACES = [(7, 3), (9, 2), (8, 4), (6, 1), (5, 5)]


def patterns(steps, separation):
    """All nonempty sets of steps at least so far apart."""
    for count in range(1, steps + 1):
        for taken in itertools.combinations(range(steps), count):
            if all(late - early >= separation for early, late in itertools.pairwise(taken)):
                yield taken


def signed(steps, separation):
    """All u, one per row: signs at the steps of a pattern."""
    rows = []
    for taken in patterns(steps, separation):
        for signs in itertools.product((1.0, -1.0), repeat=len(taken)):
            row = np.zeros(steps)
            row[list(taken)] = signs
            rows.append(row)
    return np.array(rows)


def banded_gram(steps, bands, seed):
    rng = np.random.default_rng(seed)
    index = np.arange(steps)
    distance = index[:, None] - index
    lower = np.where((distance >= 0) & (distance < bands), rng.standard_normal((steps, steps)), 0.0)
    return lower.T @ lower


@pytest.mark.parametrize(("steps", "separation"), PLACES)
@pytest.mark.parametrize("seed", range(3))
def test_the_sensitivity_of_banded_strategies_is_exact(steps, separation, seed):
    gram = banded_gram(steps, 2 * separation, seed)
    rows = signed(steps, separation)
    expected = np.einsum("ri,ij,rj->r", rows, gram, rows).max()
    found = Chains(steps=steps, separation=separation).largest(gram)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("steps", "separation"), PLACES)
def test_weights_are_those_of_all_chains(steps, separation):
    rng = np.random.default_rng(steps)
    potential = rng.standard_normal((steps, steps))
    potential += potential.T
    rows = signed(steps, separation)
    total = np.zeros(len(rows))
    for place, row in enumerate(rows):
        taken = np.flatnonzero(row)
        total[place] = potential[taken, taken].sum()
        for early, late in itertools.pairwise(taken):
            total[place] += 2 * potential[early, late] * row[early] * row[late]
        # The mean over the signs, not the sum.
        total[place] -= len(taken) * np.log(2)
    weights = np.exp(total)
    found = Chains(steps=steps, separation=separation).weighted(potential)
    assert found.log_sum == pytest.approx(np.log(weights.sum()), rel=1e-12)
    weights /= weights.sum()
    moment = np.einsum("r,ri,rj->ij", weights, rows, rows)
    assert found.moment() == pytest.approx(moment, abs=1e-12)
    alike = np.einsum("r,ri,rj->ij", weights, np.abs(rows), np.abs(rows))
    assert found.moment_alike() == pytest.approx(alike, abs=1e-12)


def test_the_log_sum_has_the_stated_gradient():
    chains = Chains(steps=7, separation=2)
    potential = np.random.default_rng(1).standard_normal((7, 7))
    potential += potential.T

    def log_sum(flat):
        both = flat.reshape(7, 7)
        return chains.weighted((both + both.T) / 2).log_sum

    differences = optimize.approx_fprime(potential.ravel(), log_sum, 1e-6).reshape(7, 7)
    assert chains.weighted(potential).adjacent() == pytest.approx(differences, abs=1e-5)


def test_chains_hold_where_the_separation_alone_limits_participation():
    assert Chains.holds(16, Participation(times=4, separation=4))
    assert Chains.holds(15, Participation(times=4, separation=4))
    assert not Chains.holds(17, Participation(times=4, separation=4))
