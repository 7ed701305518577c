"""Profiles of all noise on two to four elements, for every structure, against Monte Carlo.

The test states the densities again and enumerates the changes of one record. A profile must be an
upper bound for each change, and one change must attain its lower bound.
"""

import itertools
import math
import zlib

import numpy as np
import pytest
from queries import box, counts, gram, records

from mechanisms import AdditiveMechanism, Budget, Unsupported, all_mechanisms
from mechanisms.noise.gaussian_noise import IndependentGaussian, SymmetricGaussian
from mechanisms.noise.keep_or_noise import KeepOrNoise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.noise.radial_noise import Spherical

BUDGET = Budget(epsilon=0.7, delta=1e-3)
DRAWS = 20_000
# No correct profile deviates by more standard errors than this in some thousand comparisons.
ERRORS = 5.0
ANGLES = np.linspace(0, math.pi, 9)[:-1]


def changes_of_box(size):
    return np.array(list(itertools.product((-1, 0, 1), repeat=size))) / math.sqrt(size)


def changes_of_counts(size, adjacency):
    cells = np.eye(size)
    if adjacency == "add-remove":
        return cells
    return np.array([first - second for first, second in itertools.permutations(cells, 2)])


def changes_of_records(rows, columns):
    found = np.zeros((3**rows, rows, columns))
    found[:, :, 0] = list(itertools.product((-2, 0, 2), repeat=rows))
    return found


def changes_of_gram(adjacency):
    axes = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
    added = np.einsum("ki,kj->kij", axes, axes)
    if adjacency == "add-remove":
        return added
    return (added[:, None] - added).reshape(-1, 2, 2)


CASES = {
    **{f"box of {m}": (box(m), changes_of_box(m)) for m in (2, 3, 4)},
    **{
        f"{m} counts, {adjacency}": (
            counts(m, adjacency=adjacency), changes_of_counts(m, adjacency),
        )
        for m in (2, 3, 4)
        for adjacency in ("add-remove", "replace")
    },
    **{
        f"records {rows}x{columns}": (records(rows, columns), changes_of_records(rows, columns))
        for rows, columns in ((2, 1), (1, 2), (1, 3), (2, 2))
    },
    **{
        f"gram, {each}": (gram(2, adjacency=each), changes_of_gram(each))
        for each in ("add-remove", "replace")
    },
}  # fmt: skip


def log_density(noise, x):
    """The logarithm of the density at x, (n, *shape), up to a constant."""
    match noise:
        case IndependentGaussian():
            return -np.sum((x / noise.sigma) ** 2, axis=tuple(range(1, x.ndim))) / 2
        case SymmetricGaussian():
            return -np.sum((np.triu(x) / noise.sigma) ** 2, axis=(1, 2)) / 2
        case IndependentLaplace():
            return -np.sum(np.abs(x) / noise.scale, axis=tuple(range(1, x.ndim)))
        case Spherical():
            radius = np.sqrt(np.sum(x**2, axis=tuple(range(1, x.ndim))))
            return (noise.radial_shape - noise.size) * np.log(radius) - (
                radius / noise.scale
            ) ** noise.power
        case MatrixGaussian():
            sides = []
            for std, directions in noise.axes:
                directions = np.eye(len(std)) if directions is None else directions
                sides.append(directions * np.asarray(std))
            white = np.linalg.solve(sides[0], x) @ np.linalg.inv(sides[1]).T
            return -np.sum(white**2, axis=(1, 2)) / 2
    return None


def estimate(noise, change, epsilon, rng):
    """delta at epsilon of the noise against the moved noise, and its standard error."""
    kept = 0.0
    if isinstance(noise, KeepOrNoise):
        # A kept value reveals the change.
        noisy = -np.expm1(np.broadcast_to(noise.log_keep, change.shape))
        kept, noise = 1 - np.prod(noisy[change != 0]), noise.noise
    draws = noise.sample(rng, DRAWS)
    losses = log_density(noise, draws) - log_density(noise, draws + change)
    gains = np.maximum(-np.expm1(epsilon - losses), 0.0)
    return kept + (1 - kept) * gains.mean(), (1 - kept) * gains.std() / math.sqrt(DRAWS)


def served(cls):
    """(mechanism, changes) for each query on which the noise has a density and a profile."""
    for query, changes in CASES.values():
        try:
            mechanism = cls.calibrate_only(query, BUDGET)
        except Unsupported:
            continue
        noise = getattr(mechanism.noise, "noise", mechanism.noise)
        known = log_density(noise, np.ones((1, *query.shape))) is not None
        if known and mechanism.profile() is not None:
            yield mechanism, changes


ADDITIVE = [
    cls
    for cls in all_mechanisms().values()
    if issubclass(cls, AdditiveMechanism) and cls.guarantee != "none"
]


@pytest.mark.parametrize("cls", ADDITIVE, ids=lambda cls: cls.key)
def test_the_profile_belongs_to_the_worst_change(cls):
    rng = np.random.default_rng(zlib.crc32(cls.key.encode()))
    for mechanism, changes in served(cls):
        profile, noise, shape = mechanism.profile(), mechanism.noise, mechanism.query.shape
        epsilon = float(profile.epsilon(0.1).upper)
        epsilon = epsilon if math.isfinite(epsilon) else 0.3
        bounds = profile.delta(epsilon)
        found = np.array(
            [estimate(noise, change.reshape(shape), epsilon, rng) for change in changes]
        )
        deltas, errors = found.T
        assert np.all(deltas - ERRORS * errors <= bounds.upper * (1 + 1e-9)), mechanism.query
        assert np.max(deltas + ERRORS * errors) >= bounds.lower * (1 - 1e-9), mechanism.query
