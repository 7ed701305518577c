"""MVG's releases are provably noise; draws of that noise give the errors of components."""

import math
from pathlib import Path

import numpy as np
import pytest

from claims.verdicts import NOT_FOUND
from paper_figures.mvg2018 import draws
from paper_figures.mvg2018.compared_study import EXACT_COVARIANCE, RANDOM_COMPONENT
from paper_figures.mvg2018.draws import (
    COMPONENT,
    drawn_error,
)
from paper_figures.mvg2018.theorems import distance_of_algorithm_1
from papers.mvg2018 import COVARIANCE, FIRST_COMPONENT, REGRESSION
from runs.results import read_results
from studies.base.principal_components import captured_variance, principal_directions


@pytest.mark.parametrize(
    ("setting", "zeta", "distance"),
    [
        (REGRESSION, "published", 3.0961e-5),
        (REGRESSION, "sqrt", 1.2691e-3),
        (COVARIANCE, "published", 5.5773e-7),
        (COVARIANCE, "sqrt", 1.1940e-4),
    ],
)
def test_distances_of_the_studies(setting, zeta, distance):
    found = distance_of_algorithm_1(setting, zeta)
    assert found == pytest.approx(distance, rel=1e-4)
    # For such a small mu, the largest norm over the noise, 2 Phi(mu / 2) - 1 is mu / sqrt(2 pi).
    assert 0 < found * math.sqrt(2 * math.pi) < 0.01


def test_the_stored_covariance_is_that_of_the_floor():
    assert np.linalg.eigvalsh(EXACT_COVARIANCE)[-1] - np.trace(
        EXACT_COVARIANCE
    ) / 4 == pytest.approx(RANDOM_COMPONENT, abs=1e-7)
    assert round(1 / FIRST_COMPONENT.budget.delta) == 2021


@pytest.mark.parametrize(
    ("treatment", "mean"),
    # From 200,000 draws with the SVD of another program.
    [("anc1-anc2", 0.4882), ("anc3", 0.4997), ("iid", 0.5060), ("anc0-anc3", 0.5238),
     ("anc0", 0.5354)],
)  # fmt: skip
def test_mean_errors_of_the_component(treatment, mean):
    """They are averaged over all shares, and the best share is among them."""
    shares = draws.SHARES[:1] if treatment == "iid" else draws.SHARES
    by_share = [COMPONENT.draw(treatment, share, 10_000) for share in shares]
    assert COMPONENT.best(10_000, treatment).mean() == min(each.mean() for each in by_share)
    errors = np.mean(by_share, axis=0)
    assert errors.min() >= 0
    assert errors.mean() == pytest.approx(mean, abs=4 * errors.std() / 100)


def test_few_draws_do_not_show_that_the_best_share_is_worse_than_a_random_component():
    assert drawn_error(margin=0.037, draws=5000).verdict == NOT_FOUND


@pytest.mark.parametrize("treatment", ["fhr-asv-alv", "wrong", "iid"])
def test_the_covariance_of_a_release_by_its_parts_and_as_a_whole(treatment, monkeypatch):
    """The noise is as large as the data, so that all parts of the decomposition matter."""
    size, records = len(draws.EXACT), COVARIANCE.query.shape[1]
    deviations = np.linspace(0.5, 2, size)[:, None] * {"iid": 1, "wrong": 2}.get(treatment, 3)
    rng = np.random.default_rng(3)
    root = np.linalg.cholesky(records * draws.EXACT)
    data = root @ np.linalg.qr(rng.standard_normal((records, size)))[0].T
    whole = []
    for _ in range(300):
        released = data + deviations * rng.standard_normal(data.shape)
        directions = principal_directions(released @ released.T)[1]
        captured = captured_variance(draws.EXACT, directions)
        whole.append(((np.linalg.eigvalsh(draws.EXACT)[::-1] - captured) ** 2).sum())
    parts = draws._errors_of(rng, deviations, 3000)
    assert parts.mean() == pytest.approx(np.mean(whole), abs=4 * np.std(whole) / 300**0.5)


def test_the_covariance_and_the_draws_of_experiment_iii_agree_with_the_study():
    rows = read_results([Path("results/reference/studies/covariance.parquet")]).rows
    (largest,) = set(rows[rows["metric"] == "largest_eigenvalue"]["value"])
    assert np.linalg.eigvalsh(draws.EXACT)[-1] == pytest.approx(largest, rel=1e-12)
    own = rows[(rows["metric"] == "rss") & (rows["calibration"] == "published")]
    trials = own[(own["mechanism"] == "mvg") & (own["treatment"] == "iid")]["value"]
    drawn = draws.record_errors("iid", 0.5, 2000)
    spread = np.hypot(trials.sem(), drawn.std() / 2000**0.5)
    assert trials.mean() == pytest.approx(drawn.mean(), abs=4 * spread)
