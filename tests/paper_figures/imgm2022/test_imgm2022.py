"""imgm2022: Algorithm 2, MVG's and IMGM's regions, reversed verdicts, and the learning studies."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from claims.claim import all_claims
from claims.scores import SCORED
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, NOT_RUN
from learning.networks.cut_network import CUTS
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from paper_figures.imgm2022 import theorems
from paper_figures.imgm2022.learning import (
    CUT_NETWORKS,
    GRADIENT_NETWORKS,
    features_order,
    gradients_beside_features,
)
from paper_figures.imgm2022.theorems import algorithm_2
from papers.imgm2022 import RECORDS
from studies.base.study import study_named

CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "imgm2022"}


@pytest.mark.parametrize(
    ("epsilon", "delta", "branch"),
    [(1.0, 0.4, "delta >= delta_0"), (0.1, 0.1, "delta < delta_0"), (1.0, 1e-5, "delta < delta_0")],
)
def test_algorithm_2_takes_either_branch(epsilon, delta, branch):
    root = pytest.approx(mu_for(epsilon, delta), rel=1e-9)
    assert algorithm_2(epsilon, delta) == (branch, root)


def test_what_the_ledger_says_of_an_epsilon_of_1_where_every_record_is_released():
    rate = 256 / RECORDS["mnist"]
    profile = GaussianProfile(mu=float(mu_for(1 / rate, 1e-5 / rate)))
    assert profile.epsilon(1e-5).value == pytest.approx(240, abs=0.5)


@pytest.mark.parametrize("zeta", ["published", "sqrt"])
def test_covariances_at_the_edge_of_mvgs_region_meet_imgms_condition_with_room(zeta):
    """Random pairs, scaled until MVG's theorem holds with equality; gamma is s / 2."""
    rng, budget = np.random.default_rng(3), Budget(epsilon=2.0, delta=1e-3)
    query = Query(shape=(3, 5), l2_sensitivity=1.0, frobenius_bound=0.5)
    allowed = precision_bound(query, budget, zeta)
    for _ in range(50):
        inverses = [np.exp(rng.normal(0, 2, size)) for size in query.shape]
        inverses[0] *= allowed / np.prod([np.linalg.norm(each) for each in inverses])
        least = np.prod([1 / math.sqrt(each.max()) for each in inverses])
        assert mu_for(budget.epsilon, budget.delta) * least > 1


def test_the_equality_of_eq_52_and_its_bound_are_two_parts(monkeypatch):
    claim = CLAIMS["imgm-rdp"]
    # If B is at most 1, the expression is below the bound.
    small = theorems.renyi_divergence(**claim.arguments | {"large_epsilon": 4.0})
    assert [p.verdict for p in small.parts] == [CONTRADICTED] * 3 + [CONFIRMED] * 2
    monkeypatch.setattr(theorems, "rdp_bound", lambda orders, mu: 0.999 * orders * mu**2 / 2)
    assert theorems.renyi_divergence(**claim.arguments).verdict == CONTRADICTED


def test_the_bound_of_eq_52_is_above_the_divergence_everywhere():
    orders, mus = np.meshgrid(np.geomspace(1.01, 64, 60), np.geomspace(0.01, 20, 60))
    with np.errstate(over="ignore"):
        assert np.all(theorems.rdp_bound(orders, mus) > orders * mus**2 / 2)


def test_every_network_for_official_data_has_a_title():
    official = {
        name for name, source in study_named("gradients").datasets.items() if source == "official"
    }
    assert set(GRADIENT_NETWORKS) == official
    config = yaml.safe_load(Path("config/paper.yaml").read_text())
    chosen = config["studies"]["features"]["networks"].values()
    assert set(chosen) <= set(CUT_NETWORKS) <= set(CUTS)
    widths = [cut.features for cut in CUTS.values()]
    assert len(widths) == len(set(widths)), "features tell the networks apart"


def rows_of(study, level, records, epochs, dataset="mnist", trials=4) -> list[dict]:
    """Rows with trials of IMGM and MVG at one epsilon, and of random answers."""
    cell = {"paper": "imgm2022", "study": study, "dataset": dataset, "data_source": "official"}
    metric = SCORED[study]
    rng = np.random.default_rng(0)
    found = []
    for mechanism, value in (("imgm", level), ("mvg", 0.1), ("random-answer", 0.1)):
        own = cell | {"mechanism": mechanism, "epsilon": 1.0, "delta": 1e-5, "shape": "256x400"}
        found.append(own | {"metric": "records", "value": records})
        found.append(own | {"metric": "test_accuracy", "value": value, "epoch": epochs, "trial": 0})
        for trial in range(trials):
            spread = value + rng.normal(0, 1e-3)
            found.append(own | {"metric": metric, "value": spread, "trial": trial})
    return found


@pytest.mark.parametrize(
    ("gradients", "records", "verdict", "reason"),
    [
        (0.9, 4000, CONFIRMED, ""),
        (0.5, 4000, INCONCLUSIVE, "public records trained the network behind the features only"),
        (0.9, 1000, INCONCLUSIVE, "4,200 records with private features and 1,000 records"),
    ],
)
def test_features_ahead_contradict_nothing_and_sizes_are_alike(
    make_results, gradients, records, verdict, reason
):
    made = rows_of("features", 0.7, 4200, 10) + rows_of("gradients", gradients, records, 3)
    settings = {"datasets": ["mnist"], "mechanism": "imgm", "margin": 0.01}
    found = gradients_beside_features(make_results(made), **settings)
    assert [part.verdict for part in found.parts] == [verdict]
    assert reason in found.parts[0].reason


def test_a_data_set_that_was_not_run_is_a_part(make_results):
    made = rows_of("features", 0.7, 10, 1)
    results = make_results([*made, *(row | {"metric": "epochs"} for row in made)])
    found = features_order(results, datasets=["mnist", "svhn"], random=0.1, margin=0.01)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONFIRMED, NOT_RUN]
