"""The configs have the budgets and sizes that papers/r1smg2024.py states."""

from pathlib import Path

import pytest

from papers import r1smg2024
from runs.config import read_config

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["reference", "paper"])
def studies(request):
    return read_config(ROOT / f"config/{request.param}.yaml")["studies"]


@pytest.mark.parametrize("dataset", sorted(r1smg2024.TRAINING))
def test_the_training_has_the_budgets_of_the_paper(studies, dataset):
    settings = studies["dpsgd"]
    assert settings.budgets[dataset] == r1smg2024.TRAINING[dataset].totals
    assert settings.batch == r1smg2024.BATCH
    assert settings.delta == r1smg2024.TRAINING_DELTA


def test_the_maps_have_the_budgets_of_the_paper(studies):
    settings = studies["count_query"]
    assert settings.delta == r1smg2024.COUNT_DELTA
    side = settings.cells_per_side
    assert (side, side) == r1smg2024.count_query(1.0).shape
    # At equal true privacy, R1SMG is drawn at the budget of the others.
    others = r1smg2024.count_epsilon("gaussian")
    for name, epsilons in settings.map_epsilons.items():
        assert epsilons == list(dict.fromkeys((r1smg2024.count_epsilon(name), others)))


def test_the_noise_alone_has_the_budgets_of_figure_9(studies):
    settings = studies["noise_only"]
    assert settings.epsilons == list(r1smg2024.GROWTH_EPSILONS)
    assert settings.delta == r1smg2024.GROWTH_DELTA


def test_the_paper_s_own_grids():
    studies = read_config(ROOT / "config/paper.yaml")["studies"]
    assert studies["pca"].epsilons == list(r1smg2024.PCA_EPSILONS)
    assert studies["pca"].delta == r1smg2024.PCA_DELTA
    for dataset, training in r1smg2024.TRAINING.items():
        assert studies["dpsgd"].epochs[dataset] == training.epochs
