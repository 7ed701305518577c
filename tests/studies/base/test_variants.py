"""Studies calibrate through their variant, which checks every mechanism."""

import ast
from pathlib import Path

import pytest

from mechanisms import AdditiveMechanism, Budget, Inconsistent, Query
from mechanisms.noise.gaussian_noise import IndependentGaussian
from studies.base import Variant, case

ROOT = Path(__file__).resolve().parents[3]
QUERY = Query(shape=(4, 4), l2_sensitivity=1.0)


class Wrong(IndependentGaussian):
    """Noise that draws a hundredth of the stated size."""

    def sample(self, rng, trials, dtype=float):
        return super().sample(rng, trials, dtype) / 100


class Understated(AdditiveMechanism):
    """A mechanism with wrong noise; `asked` counts calibrations."""

    key, title, paper, theorem, guarantee = "wrong", "Wrong", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        return Wrong(shape=query.shape, sigma=5 / budget.epsilon)


class WrongBelowOne(Understated):
    """A mechanism whose noise is wrong only at epsilons below 1."""

    @classmethod
    def noise_for(cls, query, budget):
        noise = Wrong if budget.epsilon < 1 else IndependentGaussian
        return noise(shape=query.shape, sigma=5 / budget.epsilon)


def test_a_mistake_at_a_further_budget_is_inconsistent_there():
    variant = Variant(name="wrong", mechanism=WrongBelowOne)
    assert variant.calibrate(QUERY, Budget(epsilon=1.0, delta=1e-5))
    for _ in range(2):
        with pytest.raises(Inconsistent, match="mean squared norm"):
            variant.calibrate(QUERY, Budget(epsilon=0.5, delta=1e-5))
    assert variant.calibrate(QUERY, Budget(epsilon=2.0, delta=1e-5))


def test_every_mechanism_is_checked_and_the_first_of_a_calibration_at_length(monkeypatch):
    calls = []
    monkeypatch.setattr(
        case,
        "require_consistent_in_study",
        lambda mechanism, seed, first: calls.append((mechanism, seed, first)),
    )
    variant, made = Variant(name="wrong", mechanism=Understated), []
    for query in (QUERY, Query(shape=(2, 3), l2_sensitivity=1.0)):
        for calibration in ("published", "exact"):
            for epsilon in (0.5, 1.0, 1.0):
                budget = Budget(epsilon=epsilon, delta=1e-5)
                mechanism, seconds = variant.timed_calibration(query, budget, calibration)
                assert (mechanism.budget, mechanism.calibration) == (budget, calibration)
                assert seconds > 0
                made.append(mechanism)
    assert [mechanism for mechanism, _, _ in calls] == made
    assert [first for _, _, first in calls] == [True, False, False] * 2 + [False] * 6
    assert len({seed for _, seed, _ in calls}) == 4


# This study times the calibration to the directions of an SVD many times.
TIMED = {"studies/noise_only.py"}


def test_every_study_calibrates_through_its_variant():
    """A direct call of `case.mechanism.calibrate` would skip the check."""
    direct = set()
    for top in ("studies", "learning", "extend"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(
                    "case.mechanism.calibrate"
                ):
                    direct.add(str(path.relative_to(ROOT)))
    assert direct == TIMED
