"""The noise of mgm2021's uploads, against formulas derived here and the committed run."""

import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from mechanisms import Budget
from mechanisms.privacy.sampling import kairouz
from paper_figures.mgm2021.federated_study import (
    less_noise_below,
    noise_norm,
    noise_order_sentences,
)
from studies.federated_horizontal import NETWORKS, SMALL

STORED = Path(__file__).parents[3] / "results/reference/studies/federated_horizontal.parquet"
IDN, ELEMENT, WHOLE = "idn", "gaussian-per-element", "gaussian"
# The paper's rounds for Adult; its network has layers of 106 x 12 and 13 x 2, with biases.
ADULT, ROUNDS, LAYERS = NETWORKS["adult"], 10, (106 * 12, 13 * 2)


@pytest.mark.parametrize("epsilon", [1.0, 300.0])
def test_gaussian_noise_is_the_classic_one_of_a_share_of_the_budget(epsilon):
    use = kairouz.share(Budget(epsilon=epsilon, delta=1e-5), ROUNDS * len(LAYERS))

    def deviation(reach, epsilon, delta):
        return reach * math.sqrt(2 * math.log(1.25 / delta)) / epsilon

    whole = [n * deviation(2 * math.sqrt(n), use.epsilon, use.delta) ** 2 for n in LAYERS]
    element = [n * deviation(2, use.epsilon / n, use.delta / n) ** 2 for n in LAYERS]
    for key, squares in ((WHOLE, whole), (ELEMENT, element)):
        expected = math.sqrt(sum(squares))
        assert noise_norm(key, ADULT, ROUNDS, epsilon) == pytest.approx(expected, rel=1e-9)


def test_idn_and_the_gaussian_per_element_change_places_once():
    at = less_noise_below(IDN, ELEMENT, ADULT, ROUNDS)
    grid = np.logspace(0, 12, 49)
    below = [
        noise_norm(IDN, ADULT, ROUNDS, epsilon) < noise_norm(ELEMENT, ADULT, ROUNDS, epsilon)
        for epsilon in grid
    ]
    assert below == (grid < at).tolist()
    near = [noise_norm(key, ADULT, ROUNDS, at) for key in (IDN, ELEMENT)]
    assert near[0] == pytest.approx(near[1], rel=1e-6)


@pytest.mark.parametrize("network", [ADULT, NETWORKS["mnist"], SMALL["cifar10"], SMALL["imdb"]])
def test_idn_is_noisier_than_the_gaussian_on_a_layer_the_more_the_larger_epsilon(network):
    ratios = [
        noise_norm(IDN, network, ROUNDS, epsilon) / noise_norm(WHOLE, network, ROUNDS, epsilon)
        for epsilon in np.logspace(0, 14, 29)
    ]
    assert ratios[0] > 1
    assert (np.diff(ratios) >= -1e-9 * ratios[0]).all()


def test_the_committed_run_had_this_noise():
    rows = pq.read_table(STORED).to_pandas()
    names = [name for name in NETWORKS if name in set(rows["dataset"])]
    sentences = noise_order_sentences(rows, names, IDN, ELEMENT, WHOLE)
    assert "1.9e+06 on Adult" in sentences[0]
    assert "7.15 times on Adult" in sentences[1]
    norms = rows[(rows["metric"] == "noise_norm") & (rows["calibration"] == "published")]
    run = norms[(norms["dataset"] == "imdb") & norms["mechanism"].isin([IDN, ELEMENT])]
    assert len(run) >= 8
    for row in run.itertuples():
        expected = 0.3 * noise_norm(row.mechanism, SMALL["imdb"], 10, row.epsilon)
        assert row.value == pytest.approx(expected, rel=1e-9)
