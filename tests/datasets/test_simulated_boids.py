"""Simulated boids are seeded and bounded, steer as stated and form flocks."""

import numpy as np
import pytest

from datasets.loaders import boids


@pytest.fixture(scope="module")
def snapshots():
    return boids.load(seed=2, groups=300, boids=20)


def per_boid(data):
    return data.features.reshape(len(data.targets), -1, boids.FEATURES)


def test_seed_decides_everything(snapshots):
    same, other = (boids.load(seed=seed, groups=300, boids=20) for seed in (2, 3))
    assert np.array_equal(same.features, snapshots.features)
    assert np.array_equal(same.targets, snapshots.targets)
    assert not np.array_equal(other.features, snapshots.features)


@pytest.mark.parametrize(("groups", "count"), [(1, 2), (7, 200), (400, 10)])
def test_features_stay_within_their_bounds(groups, count):
    data = boids.load(seed=1, groups=groups, boids=count)
    assert data.features.shape == (groups, 12 * count)
    assert np.isfinite(data.features).all()
    assert np.abs(data.features).max() <= 1 + 1e-12


def test_steering_against_loops():
    rng = np.random.default_rng(0)
    place, velocity = rng.random((2, 15, 2)), rng.standard_normal((2, 15, 2))
    alignment, separation, cohesion, near, close = boids._steering(place, velocity)
    for group in range(2):
        for i in range(15):
            offset = place[group] - place[group, i]
            offset -= np.round(offset)
            distance = np.hypot(*offset.T)
            distance[i] = np.inf
            seen, crowd = distance < boids._SIGHT, distance < boids._TOO_CLOSE
            assert near[group, i] == seen.sum() and close[group, i] == crowd.sum()
            mean = velocity[group, seen].mean(axis=0) - velocity[group, i] if seen.any() else 0
            np.testing.assert_allclose(alignment[group, i], mean, atol=1e-14)
            towards = offset[seen].mean(axis=0) if seen.any() else 0
            np.testing.assert_allclose(cohesion[group, i], towards, atol=1e-14)
            away = -offset[crowd].mean(axis=0) if crowd.any() else 0
            np.testing.assert_allclose(separation[group, i], away, atol=1e-14)


def test_speeds_are_limited(snapshots):
    speed = np.linalg.norm(per_boid(snapshots)[..., 2:4], axis=-1)
    assert speed.min() >= boids._SLOWEST / boids._FASTEST - 1e-12
    assert speed.max() <= 1 + 1e-12


def test_flocks_are_dense_and_move_together(snapshots):
    state = per_boid(snapshots)
    neighbours = (state[..., 10] + 1) / 2 * 19
    heading = state[..., 2:4] / np.linalg.norm(state[..., 2:4], axis=-1, keepdims=True)
    order = np.linalg.norm(heading.mean(axis=1), axis=-1)
    disagreement = np.linalg.norm(state[..., 4:6], axis=-1).mean(axis=1)
    flocking = snapshots.targets == 1
    # Boids at random places see 19 pi 0.25^2 others; their mean heading is about 1/sqrt(20) long.
    assert neighbours[~flocking].mean() == pytest.approx(19 * np.pi * 0.25**2, rel=0.1)
    assert order[~flocking].mean() == pytest.approx(np.sqrt(np.pi / 4 / 20), rel=0.15)
    assert neighbours[flocking].mean() > 2 * neighbours[~flocking].mean()
    assert order[flocking].mean() > 1.5 * order[~flocking].mean()
    assert disagreement[flocking].mean() < 0.6 * disagreement[~flocking].mean()
