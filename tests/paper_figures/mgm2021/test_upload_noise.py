"""The noise of mgm2021's uploads, against formulas derived here and the committed run."""

import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from mechanisms import Budget
from mechanisms.privacy.sampling import kairouz
from paper_figures.mgm2021.federated_study import noise_norm
from studies.federated_horizontal import NETWORKS, SMALL

STORED = Path(__file__).parents[3] / "results/reference/studies"
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


def test_the_committed_run_had_this_noise():
    rows = pq.read_table(STORED / "federated_horizontal.parquet").to_pandas()
    norms = rows[(rows["metric"] == "noise_norm") & (rows["calibration"] == "published")]
    run = norms[(norms["dataset"] == "imdb") & norms["mechanism"].isin([IDN, ELEMENT])]
    assert len(run) >= 8
    for row in run.itertuples():
        expected = 0.3 * noise_norm(row.mechanism, SMALL["imdb"], 10, row.epsilon)
        assert row.value == pytest.approx(expected, rel=1e-9)


def test_what_the_ledger_says_of_idns_noise_over_the_features_of_location():
    rows = pq.read_table(STORED / "federated_vertical.parquet").to_pandas()
    own = rows[(rows["metric"] == "noise_norm") & (rows["calibration"] == "published")]
    at = (own["dataset"] == "location30") & (own["mechanism"] == IDN) & (own["epsilon"] == 10)
    (norm,) = own[at]["value"]
    # Both participants have 100 x 128 features in (-1, 1).
    assert norm / math.sqrt(2 * 100 * 128) == pytest.approx(2077, abs=1)
