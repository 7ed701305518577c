"""The networks of imgm2022's learning studies, and the requirements of their comparison."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from claims.scores import SCORED
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, NOT_RUN
from learning.networks.cut_network import CUTS
from paper_figures.imgm2022.learning import (
    CUT_NETWORKS,
    GRADIENT_NETWORKS,
    features_order,
    gradients_beside_features,
)
from studies.base.study import study_named


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
    ("gradients", "records", "epochs", "verdict", "reason"),
    [
        (0.9, 4000, 3, CONFIRMED, ""),
        (0.5, 4000, 100, CONTRADICTED, ""),
        (0.5, 4000, 3, INCONCLUSIVE, "3 of the paper's 100 epochs"),
        (0.5, 4000, math.nan, INCONCLUSIVE, "0 of the paper's 100 epochs"),
        (0.9, 1000, 100, INCONCLUSIVE, "4,200 records with private features and 1,000 records"),
    ],
)
def test_studies_are_compared_at_like_sizes(
    make_results, gradients, records, epochs, verdict, reason
):
    made = rows_of("features", 0.7, 4200, 10) + rows_of("gradients", gradients, records, epochs)
    settings = {"datasets": ["mnist"], "mechanism": "imgm", "margin": 0.01}
    found = gradients_beside_features(make_results(made), epochs={"mnist": 100}, **settings)
    assert [part.verdict for part in found.parts] == [verdict]
    assert reason in found.parts[0].reason


def test_a_data_set_that_was_not_run_is_a_part(make_results):
    made = rows_of("features", 0.7, 10, 1)
    results = make_results([*made, *(row | {"metric": "epochs"} for row in made)])
    found = features_order(results, datasets=["mnist", "svhn"], random=0.1, margin=0.01)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONFIRMED, NOT_RUN]
