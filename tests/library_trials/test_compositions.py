"""Totals of another accountant next to the suite's: with a stand-in for its library, and with it.

    python -m pip install --no-deps --target FOLDER prv-accountant==0.2.0
    PYTHONPATH=FOLDER python -m pytest tests/library_trials/test_compositions.py

The pinned environment does not have it: without it the tests of its own answers are skipped.
"""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from library_trials import compositions
from library_trials.compositions import SUITE, summary
from tests.mechanisms.known_losses import gaussian_delta

PAGE = Path(__file__).parents[2] / "docs/compose_and_plan.md"
STAND_IN = """
class GaussianMechanism:
    def __init__(self, noise_multiplier): pass
class LaplaceMechanism:
    def __init__(self, mu): pass
class PoissonSubsampledGaussianMechanism:
    def __init__(self, sampling_probability, noise_multiplier): pass
class PRVAccountant:
    def __init__(self, prvs, eps_error, delta_error, max_self_compositions):
        self.error = eps_error
    def compute_epsilon(self, delta, num_self_compositions):
        if len(num_self_compositions) > 1:
            raise ValueError("one kind only")
        return 2 - self.error, 2.0, 2 + self.error
"""


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """The rows of single releases."""
    (tmp_path / "prv_accountant.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(compositions, "environment", lambda key: sys.executable)
    monkeypatch.setattr(compositions, "TIMES", (1,))
    return compositions.measured()


CLOSED_FORMS = {
    "Gaussian": lambda epsilon: gaussian_delta(1.0, epsilon),
    "Laplace": lambda epsilon: -math.expm1((epsilon - 1) / 2),
    # A sample of 1% (Balle, Barthe and Gaboardi 2018, Theorem 8).
    "Gaussian on samples": lambda epsilon: (
        0.01 * gaussian_delta(1.0, math.log1p(math.expm1(epsilon) / 0.01))
    ),
}


def test_single_releases_have_the_epsilon_of_closed_forms(rows):
    ours = rows[rows["by"] == SUITE].set_index("releases")
    for name, delta in CLOSED_FORMS.items():
        for row in ours.loc[name].itertuples():
            assert delta(row.lower) * (1 + 1e-9) >= row.delta >= delta(row.upper) * (1 - 1e-9)
            assert row.upper - row.lower < 1e-6


def test_answers_of_the_library_are_rows(rows):
    theirs = rows[rows["by"] != SUITE]
    assert len(theirs) == 2 * 4 * 3
    failed = theirs["releases"] == "all three"
    assert set(theirs["error"][failed]) == {"ValueError: one kind only"}
    assert theirs["lower"][failed].isna().all()
    widths = (theirs["upper"] - theirs["lower"])[~failed]
    assert widths.round(9).value_counts().to_dict() == {0.2: 9, 0.02: 9}


def test_the_committed_bounds_of_the_suite_are_those_of_this_code(rows):
    """In all but the last digits, which depend on the processor."""
    case = ["releases", "times", "delta", "by"]
    ours = rows[rows["by"] == SUITE]
    pairs = ours.merge(pd.read_csv(compositions.TABLE), on=case, suffixes=("", "_committed"))
    assert len(pairs) == len(ours) == 4 * 3
    for name in ("lower", "value", "upper"):
        np.testing.assert_allclose(pairs[name], pairs[f"{name}_committed"], rtol=1e-7)


needs_the_library = pytest.mark.skipif(
    importlib.util.find_spec("prv_accountant") is None,
    reason="prv_accountant is not installed; the head of this file says how",
)


@pytest.fixture(scope="module")
def answers():
    """The rows of 1 and 100 releases, with the library's own answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compositions, "environment", lambda key: sys.executable)
        patch.setattr(compositions, "TIMES", (1, 100))
        return compositions.measured()


@needs_the_library
def test_the_library_bounds_the_epsilon_of_closed_forms(answers):
    """Its losses are those of a removed record, which for samples are the larger ones."""
    theirs = answers[(answers["by"] != SUITE) & (answers["times"] == 1)].set_index("releases")
    for name, delta in CLOSED_FORMS.items():
        for row in theirs.loc[name].itertuples():
            # Below 0 it bounds nothing.
            assert row.lower < 0 or delta(row.lower) > row.delta
            assert row.delta > delta(row.upper)


@needs_the_library
def test_all_intervals_of_the_library_overlap_ours(answers):
    theirs = answers[answers["by"] != SUITE]
    assert theirs["error"].isna().all()
    case = ["releases", "times", "delta"]
    pairs = theirs.merge(answers[answers["by"] == SUITE], on=case, suffixes=("", "_ours"))
    assert len(pairs) == 2 * 2 * 4 * 3
    assert (pairs["lower"] <= pairs["upper_ours"]).all()
    assert (pairs["lower_ours"] <= pairs["upper"]).all()


@needs_the_library
def test_the_library_repeats_the_committed_rows(answers):
    case = ["releases", "times", "delta", "by"]
    theirs = answers[answers["by"] != SUITE]
    pairs = theirs.merge(pd.read_csv(compositions.TABLE), on=case, suffixes=("", "_committed"))
    assert len(pairs) == len(theirs)
    for name in ("lower", "value", "upper"):
        np.testing.assert_allclose(pairs[name], pairs[f"{name}_committed"], rtol=1e-6)


def test_the_summary_counts_intervals_that_overlap():
    case = {"releases": "Gaussian", "times": 1, "error": None, "seconds": 0.5}
    frame = pd.DataFrame(
        [
            case | {"delta": delta, "by": by, "lower": lower, "value": value, "upper": upper}
            for delta, by, lower, value, upper in (
                *((0.1, SUITE, 1.0, 1.1, 1.2), (0.2, SUITE, 1.0, 1.0, 1.0)),
                *((0.1, "other", 1.2, 1.4, 1.5), (0.2, "other", 1.01, 1.02, 1.06)),
                *((0.1, "none", math.nan, math.nan, math.nan), (0.2, "none", 0.0, 0.9, 5.0)),
            )
        ]
    )
    *_, ours, other, none = summary(frame).splitlines()
    assert ours == "| Gaussian | this suite | 2 of 2 | 0.2 | 0 | 0.50 |"
    assert other == "| Gaussian | other | 1 of 2 | 0.3 | 0.3 | 0.50 |"
    assert none == "| Gaussian | none | 1 of 2 | 5 | 0.1 | 0.50 |"


def test_the_page_has_the_committed_numbers():
    assert summary(pd.read_csv(compositions.TABLE)) in PAGE.read_text()
