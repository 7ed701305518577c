"""The formulas of scores, on numbers of any size and on equal outputs."""

import numpy as np
import pytest

from mechanisms.audit.scores import FEATURES, distance_score, linear_score, lowest_bits


def test_lowest_bits():
    values = np.array([1.0, 0.5, 0.75, 3.0, -6.0, 0.0, 1.0 + 2.0**-52, 0.1])
    assert lowest_bits(values).tolist() == [0, -1, -2, 0, 1, 64, -52, -55]


@pytest.mark.parametrize("feature", ["mean", "spread"])
@pytest.mark.parametrize("far", [0.0, 1000.0, 1e9])
def test_a_linear_score_in_closed_form(feature, far):
    """The score is right even if the values are far larger than the noise."""
    rng = np.random.default_rng(0)
    of = FEATURES[feature]
    sides = [far + shift + rng.standard_normal((500, 3)) for shift in (0.0, 0.2)]
    means = [of(outputs).mean(axis=0) for outputs in sides]
    variance = sum(of(outputs).var(axis=0) for outputs in sides) / 2
    probe = far + rng.standard_normal((4, 3))
    expected = (of(probe) - sum(means) / 2) @ ((means[0] - means[1]) / variance)
    assert linear_score(of, sides)(probe) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_equal_outputs_have_equal_scores():
    """Scores do not depend on the position, even if vectors are scored in small groups."""
    rng = np.random.default_rng(3)
    first, second = np.zeros(90_000), np.ones(90_000)
    sides = [value + rng.standard_normal((4, 90_000)) for value in (first, second)]
    outputs = np.repeat(rng.standard_normal((1, 90_000)), 13, axis=0)
    for score in (linear_score(FEATURES["mean"], sides), distance_score(first, second)):
        assert len(set(score(outputs).tolist())) == 1


def test_distances_in_closed_form():
    first, second = np.zeros((2, 2)), np.full((2, 2), 1.0)
    score = distance_score(first, second)
    outputs = np.array([first, second, np.full((2, 2), 0.5), [[2.0, 0.0], [0.0, 0.0]]])
    expected = [np.inf, -np.inf, 0.0, np.log(4.0 / 4.0)]
    assert score(outputs).tolist() == pytest.approx(expected)
    # Outputs of different lengths have no distance.
    assert score(np.ones((3, 5))).tolist() == [0.0, 0.0, 0.0]
