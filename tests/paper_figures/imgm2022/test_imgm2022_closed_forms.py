"""Verdicts on imgm2022 that closed forms decide, and what would turn each of them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from claims.ledger import all_claims
from claims.verdicts import CONFIRMED, CONTRADICTED, PARTLY
from mechanisms.privacy.gaussian_profile import GaussianProfile
from paper_figures.imgm2022 import amplification, singular_values, theorems
from runs.results import Results

CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "imgm2022"}
NOTHING = Results(None)


def test_the_equality_of_eq_52_and_its_bound_are_two_parts(monkeypatch):
    claim = CLAIMS["imgm-rdp"]
    found = theorems.renyi_divergence(claim, NOTHING)
    assert found.verdict == PARTLY
    assert [p.verdict for p in found.parts] == [CONTRADICTED] * 3 + [CONFIRMED]
    monkeypatch.setattr(theorems, "rdp_bound", lambda orders, mu: 0.999 * orders * mu**2 / 2)
    assert theorems.renyi_divergence(claim, NOTHING).verdict == CONTRADICTED


def test_the_bound_of_eq_52_is_above_the_divergence_everywhere():
    orders, mus = np.meshgrid(np.geomspace(1.01, 64, 60), np.geomspace(0.01, 20, 60))
    with np.errstate(over="ignore"):
        assert np.all(theorems.rdp_bound(orders, mus) > orders * mus**2 / 2)


def test_theorem_1_is_refuted_by_one_distance_above_it(monkeypatch):
    claim = CLAIMS["imgm-thm1"]
    claim = replace(claim, arguments=claim.arguments | {"draws": 5})
    assert singular_values.largest_distance(claim, NOTHING).verdict == CONFIRMED
    true = singular_values.distance_over_bound
    monkeypatch.setattr(
        singular_values, "distance_over_bound", lambda *matrices: 10 * true(*matrices)
    )
    assert singular_values.largest_distance(claim, NOTHING).verdict == CONTRADICTED


def test_the_bound_of_theorem_1_by_hand():
    # Diagonal factors: the larger singular value of the change meets the smaller ones of both.
    first, second = np.diag([2.0, 1.0]), np.diag([1.0, 5.0])
    bound = np.hypot(3 / (1 * 1), 1 / (2 * 5))
    worst, other = np.array([[0.0, 1.0], [3.0, 0.0]]), np.diag([3.0, 1.0])
    for change, distance in ((worst, bound), (other, np.hypot(3 / 2, 1 / 5))):
        found = singular_values.distance_over_bound(first, change, second)
        assert found == pytest.approx(distance / bound)


def test_directions_would_help_with_less_noise_than_theorem_2_asks_for(monkeypatch):
    claim = CLAIMS["imgm-directions"]
    claim = replace(claim, arguments=claim.arguments | {"draws": 5})
    assert singular_values.least_noise_in_any_direction(claim, NOTHING).verdict == CONFIRMED
    # The condition of mvg2018 and mgm2021, on norms, leaves some direction with less.
    norm = np.linalg.norm
    monkeypatch.setattr(
        singular_values.np.linalg,
        "norm",
        lambda u, order=None: norm(u, 2 if order == -2 else order),
    )
    found = singular_values.least_noise_in_any_direction(claim, NOTHING)
    assert found.parts[0].verdict == CONTRADICTED


def test_the_budget_of_a_batch_is_not_that_of_the_data():
    claim = CLAIMS["imgm-f1-budget"]
    found = amplification.amplified_budget(claim, NOTHING)
    assert [outcome.verdict for outcome in found.outcomes] == [CONTRADICTED, CONTRADICTED]
    assert "truly 240 on MNIST" in found.detail
    # Where one batch has all records, its budget is that of the data.
    all_of_them = claim.arguments | {"records": {"mnist": 256}}
    found = amplification.amplified_budget(replace(claim, arguments=all_of_them), NOTHING)
    assert found.verdict == CONFIRMED


@pytest.mark.parametrize(("mu", "epsilon", "rate"), [(1.0, 0.5, 0.1), (4.4, 0.1, 0.0047)])
def test_the_delta_of_a_sample_is_that_of_its_mixture(mu, epsilon, rate):
    def excess(x):
        with_record = (1 - rate) * scipy.stats.norm.pdf(x) + rate * scipy.stats.norm.pdf(x - mu)
        return max(with_record - np.exp(epsilon) * scipy.stats.norm.pdf(x), 0.0)

    crossing = (np.log1p(np.expm1(epsilon) / rate) + mu**2 / 2) / mu
    true, _ = scipy.integrate.quad(excess, crossing, mu + 12, epsabs=0, epsrel=1e-10, limit=200)
    assert amplification.sampled_delta(GaussianProfile(mu=mu), epsilon, rate) == pytest.approx(
        true, rel=1e-7
    )
