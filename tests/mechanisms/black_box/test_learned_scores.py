"""Scores that are learned: sums in any parts, numbers of any size, equal outputs."""

import numpy as np
import pytest

from mechanisms.black_box import learned_scores
from mechanisms.black_box.learned_scores import (
    LINEAR,
    LinearLearner,
    distance_score,
    learners_of,
    lowest_bits,
)


def test_lowest_bits():
    values = np.array([1.0, 0.5, 0.75, 3.0, -6.0, 0.0, 1.0 + 2.0**-52, 0.1])
    assert lowest_bits(values).tolist() == [0, -1, -2, 0, 1, 64, -52, -55]


@pytest.mark.parametrize("far", [0.0, 1000.0, 1e9])
def test_linear_scores_are_those_of_all_outputs_at_once(far):
    """Also where the values are far larger than the noise."""
    rng = np.random.default_rng(0)
    sides = [far + shift + rng.standard_normal((500, 3)) for shift in (0.0, 0.2)]
    learner = LinearLearner(lambda outputs: np.array(outputs))
    for side, outputs in enumerate(sides):
        for part in np.split(outputs, 5):
            learner.add(side, part)
    variance = sum(outputs.var(axis=0) for outputs in sides) / 2
    change = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    probe = far + rng.standard_normal((4, 3))
    middle = (sides[0].mean(axis=0) + sides[1].mean(axis=0)) / 2
    expected = (probe - middle) @ (change / variance)
    assert learner.score()(probe) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("feature", ["mean", "spread"])
def test_lessons_give_the_means_of_all_outputs_and_variances_of_the_first(feature):
    """In parts, the first of which alone tells of variances; against the formula."""
    rng = np.random.default_rng(1)
    of = LINEAR[feature][0]
    early = [5 + scale * rng.standard_normal((400, 4)) for scale in (1.0, 1.2)]
    late = [5.3 + scale * rng.standard_normal((600, 4)) for scale in (1.0, 1.2)]
    learner = learners_of([feature])[feature]
    for side in (0, 1):
        learner.add(side, early[side])
    for side in (0, 1):
        lesson = None
        for part in np.split(late[side], 6):
            lesson = learner.lesson(part, lesson)
        learner.learn(side, lesson)
    both = [of(np.concatenate(pair)) for pair in zip(early, late, strict=True)]
    means = [each.mean(axis=0) for each in both]
    variance = sum(each[:500].var(axis=0) for each in both) / 2
    probe = rng.standard_normal((5, 4))
    expected = (of(probe) - sum(means) / 2) @ ((means[0] - means[1]) / variance)
    assert learner.score()(probe) == pytest.approx(expected, rel=1e-9)


def test_an_element_that_varies_too_late_to_have_a_scale_does_not_drown_the_others():
    """Its variance is zero among the outputs that tell of variances, and its mean differs."""
    rng = np.random.default_rng(2)
    learner = learners_of(["mean"])["mean"]
    sides = [shift + rng.standard_normal((1000, 2)) * [1, 0] for shift in ([0.0, 0], [0.5, 0])]
    for side, outputs in enumerate(sides):
        learner.add(side, outputs)
    before = learner.score()
    for side, outputs in enumerate(sides):
        lesson = learner.lesson(outputs[:1])
        rare = outputs.copy()
        rare[0, 1] = side
        learner.learn(side, learner.lesson(rare, lesson))
    probe = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert learner.score()(probe) == pytest.approx(before(probe), rel=0.01)


def test_equal_outputs_have_equal_scores(monkeypatch):
    """Wherever they stand, and in vectors of any length."""
    monkeypatch.setattr(learned_scores, "_CHUNK_NUMBERS", 5 * 9000)
    rng = np.random.default_rng(3)
    first, second = np.zeros(9000), np.ones(9000)
    learner = learners_of(["mean"])["mean"]
    for side, value in enumerate((first, second)):
        learner.add(side, value + rng.standard_normal((4, 9000)))
    outputs = np.repeat(rng.standard_normal((1, 9000)), 13, axis=0)
    for score in (learner.score(), distance_score(first, second)):
        assert len(set(score(outputs).tolist())) == 1


def test_distances_in_closed_form():
    first, second = np.zeros((2, 2)), np.full((2, 2), 1.0)
    score = distance_score(first, second)
    outputs = np.array([first, second, np.full((2, 2), 0.5), [[2.0, 0.0], [0.0, 0.0]]])
    expected = [np.inf, -np.inf, 0.0, np.log(4.0 / 4.0)]
    assert score(outputs).tolist() == pytest.approx(expected)
    # Outputs of another length have no distance.
    assert score(np.ones((3, 5))).tolist() == [0.0, 0.0, 0.0]
