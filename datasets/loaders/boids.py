"""Simulated groups of boids that flock or do not, with the features of Swarm Behaviour.

Boids (Reynolds 1987) live on a square of side 1 whose opposite edges are joined. In a flocking
group every boid steers towards the mean velocity (alignment) and the mean position (cohesion) of
its neighbours, with a strength that differs between groups. In the other groups boids only wander.
In all groups a boid steers away from boids that are too close (separation), and its velocity is
jittered. A group starts from random positions and headings; its snapshot is taken after some steps.

A snapshot has the 12 numbers per boid of the Swarm Behaviour records, in their order: position,
velocity, the alignment, separation and cohesion vectors (x and y each), the number of neighbours,
and the number of boids too close. Each number is scaled to [-1, 1] by the range that the rules
allow, which is known before any snapshot.

One record is one snapshot of a group.
"""

import numpy as np

from datasets.entry import Dataset
from datasets.formats.tables import Records

ENTRY = Dataset(
    name="boids",
    title="Simulated groups of boids, flocking or not",
    source="simulated",
    licence="the licence of this project",
    citation="this project: datasets/loaders/boids.py",
    record="one snapshot of a group",
    rows={},
)


FEATURES = 12  # of one boid

_STEPS = 40
_SLOWEST, _FASTEST = 0.005, 0.015  # sides of the square per step
_SIGHT, _TOO_CLOSE = 0.25, 0.05  # radius of neighbours, and of those to keep away from
_ALIGNMENT, _COHESION = 0.3, 0.02  # largest share of the steering vector taken per step
_SEPARATION = 0.05
_JITTER = 0.001  # standard deviation of each velocity component, per step
# Pairs of boids that are computed at once: arrays of this size stay in a processor's cache.
_PAIRS_AT_ONCE = 1 << 15


def load(*, seed: int = 0, groups: int = 2000, boids: int = 20) -> Records:
    """Simulate snapshots of independent groups, each flocking with probability one half.

    The features (groups, 12 * boids) lie in [-1, 1], the 12 numbers of the first boid first; the
    target is 1 for a flocking group, else 0.

    Args:
        seed: at least 0; the same arguments give the same snapshots.
        groups: number of groups, at least 1.
        boids: number of boids in each group, at least 2 (the official data have 200).
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, groups)
    strength = labels * rng.uniform(0.1, 1.0, groups)
    at_once = max(1, _PAIRS_AT_ONCE // boids**2)
    features = [
        _snapshots(rng, strength[start : start + at_once], boids)
        for start in range(0, groups, at_once)
    ]
    return Records(features=np.concatenate(features), targets=labels)


def _snapshots(rng: np.random.Generator, strength: np.ndarray, boids: int) -> np.ndarray:
    """Return features (groups, 12 * boids) of groups with these strengths of flocking."""
    place = rng.random((len(strength), boids, 2))
    heading = rng.uniform(0, 2 * np.pi, (len(strength), boids))
    speed = rng.uniform(_SLOWEST, _FASTEST, heading.shape)
    velocity = speed[..., None] * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    flocking = strength[:, None, None]
    pairs = _Pairs(len(strength), boids)
    for _ in range(_STEPS):
        alignment, separation, cohesion, *_ = pairs.steering(place, velocity)
        velocity = velocity + flocking * (_ALIGNMENT * alignment + _COHESION * cohesion)
        velocity += _SEPARATION * separation + _JITTER * rng.standard_normal(velocity.shape)
        speed = np.linalg.norm(velocity, axis=-1, keepdims=True)
        velocity *= np.clip(speed, _SLOWEST, _FASTEST) / speed
        place = (place + velocity) % 1.0
    alignment, separation, cohesion, near, close = pairs.steering(place, velocity)
    scaled = (
        2 * place - 1,
        velocity / _FASTEST,
        alignment / (2 * _FASTEST),
        separation / _TOO_CLOSE,
        cohesion / _SIGHT,
        np.stack([near, close], axis=-1) * (2 / (boids - 1)) - 1,
    )
    return np.concatenate(scaled, axis=-1).reshape(len(strength), -1)


class _Pairs:
    """Arrays (groups, boids, boids) over the pairs of boids, which every step overwrites.

    Allocating them at each step would take three times as long as computing them.
    """

    def __init__(self, groups: int, boids: int) -> None:
        shape = groups, boids, boids
        self.x, self.y, self.squared, self.chosen = (np.empty(shape) for _ in range(4))

    def steering(self, place: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return alignment, separation, cohesion, and numbers of neighbours and of too close boids.

        Alignment is the mean velocity of the neighbours minus the boid's own, cohesion is their
        mean offset, and separation is minus the mean offset of the boids that are too close. These
        vectors (groups, boids, 2) are zero if there are no such boids.
        """
        # The offsets from boid i to boid j, the shorter way round.
        for offset, axis in zip((self.x, self.y), np.moveaxis(place, -1, 0).copy(), strict=True):
            np.subtract(axis[:, None, :], axis[:, :, None], out=offset)
            offset -= np.rint(offset, out=self.squared)
        np.multiply(self.x, self.x, out=self.squared)
        self.squared += np.multiply(self.y, self.y, out=self.chosen)
        # A boid is not its own neighbour.
        itself = np.arange(place.shape[1])
        self.squared[:, itself, itself] = np.inf
        crowd, separation = self._within(_TOO_CLOSE)
        count, cohesion = self._within(_SIGHT)
        own = velocity * (count > 0)[..., None]
        alignment = self.chosen @ velocity / np.maximum(count, 1)[..., None] - own
        return alignment, -separation, cohesion, count, crowd

    def _within(self, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """Mark the pairs within a radius; return their number and mean offset for each boid."""
        np.copyto(self.chosen, self.squared < radius**2)
        number = self.chosen @ np.ones(self.chosen.shape[-1])
        sums = np.vecdot(self.chosen, self.x), np.vecdot(self.chosen, self.y)
        return number, np.stack(sums, axis=-1) / np.maximum(number, 1)[..., None]
