"""mgm2021's federated learning: orders on made-up accuracies, and the noise of its uploads."""

import math
from pathlib import Path

import pytest

from claims.judged_rows import select
from mechanisms import Budget
from mechanisms.privacy.sampling import kairouz
from paper_figures.mgm2021.federated import (
    federated_order,
    harder_tasks_need_more,
    horizontal_trend,
    noise_norm,
)
from runs.results import read_results
from studies.federated_horizontal import NETWORKS, SMALL

STORED = Path(__file__).parents[3] / "results/reference/studies"
IDN, ELEMENT, WHOLE = "idn", "gaussian-per-element", "gaussian"
ARGUMENTS = {
    "study": "federated_horizontal",
    "beside": {"federated_sums": "sums"},
    "datasets": ["imdb"],
    "above": {"default": [("idn", "baseline")]},
    "choice": "how they accumulate",
    "readings": {
        "a share": {"baseline": [ELEMENT]},
        # No pair has the matrix mechanism, so it need not have been run.
        "all": {"baseline": ["gaussian"], "matrix-mechanism": ["matrix-mechanism"]},
    },
    "margin": 0.01,
}


def runs(study, dataset="imdb", records=25_000, **means):
    cell = {"paper": "mgm2021", "study": study, "dataset": dataset, "data_source": "official"}
    cell |= {"delta": 1e-5, "epsilon": 1e9, "round": 3}
    facts = {"records": records, "uses": 100.0, "parameters": SMALL["imdb"].size}
    rows = [cell | {"metric": metric, "value": value} for metric, value in facts.items()]
    for mechanism, mean in means.items():
        at = {"mechanism": mechanism.replace("_", "-")}
        for trial in range(10):
            value = {"trial": trial, "value": mean + 1e-3 * trial}
            rows += [
                cell | at | value | {"metric": f"{name}test_accuracy"} for name in ("", "final_")
            ]
    return rows


@pytest.mark.parametrize(
    ("idn", "verdicts"),
    [
        (0.8, ["contradicted", "contradicted", "confirmed", "confirmed"]),
        (0.65, ["contradicted", "contradicted", "contradicted", "contradicted"]),
    ],
)
def test_every_reading_is_judged_with_means_and_with_sums(make_results, idn, verdicts):
    """All trials agree; if IDN is behind under both readings, the claim is contradicted."""
    rows = runs("federated_horizontal", idn=0.6, gaussian_per_element=0.7, gaussian=0.75)
    rows += runs("federated_sums", idn=idn, gaussian_per_element=0.7, gaussian=0.72)
    found = federated_order(make_results(rows), **ARGUMENTS)
    assert [each.choice for each in found.outcomes] == [
        "a share",
        "all",
        "a share; sums",
        "all; sums",
    ]
    assert [each.verdict for each in found.outcomes] == verdicts
    assert found.verdict == ("depends" if idn == 0.8 else "contradicted")
    networks = [sizes.network for sizes in (found.sizes, *found.other_sizes)]
    assert networks == ["small network", "small network"]


def test_a_reading_or_a_data_set_that_was_not_run_is_an_open_part(make_results):
    rows = runs("federated_horizontal", idn=0.8, gaussian_per_element=0.7)
    found = federated_order(make_results(rows), **ARGUMENTS | {"datasets": ["imdb", "adult"]})
    assert [[part.verdict for part in each.parts] for each in found.outcomes] == [
        ["confirmed", "not run"], ["not run", "not run"]
    ]  # fmt: skip
    assert (found.outcomes[1].parts[1].name, found.verdict) == ("Adult", "inconclusive")


@pytest.mark.parametrize(
    ("records", "level", "verdict"),
    [
        # The majority class of IMDB scores 0.5. Training without noise gains nothing at first.
        (25_000, 0.4955, "inconclusive"),
        (25_000, 0.7, "confirmed"),
        (100, 0.7, "not run"),
    ],
)
def test_gains_are_compared_on_all_of_the_papers_records(make_results, records, level, verdict):
    rows = runs("federated_horizontal", records=records, idn=0.5, non_private=level)
    rows += runs("federated_horizontal", "adult", 32_561, idn=0.8, non_private=0.85)
    found = harder_tasks_need_more(
        make_results(rows), hard=["imdb"], easy=["adult"], mechanism=IDN, margin=0.01
    )
    assert [part.verdict for part in found.parts] == ["confirmed", verdict]


def test_tasks_are_compared_at_the_smallest_budget_at_which_the_easier_one_is_learned(make_results):
    """At the smallest budget neither is learned, and at the largest one both are."""
    rows = []
    for epsilon, imdb, adult in ((1e8, 0.4, 0.7), (1e9, 0.5, 0.85), (1e10, 0.9, 0.85)):
        both = runs("federated_horizontal", idn=imdb, non_private=0.9)
        both += runs("federated_horizontal", "adult", 32_561, idn=adult, non_private=0.85)
        rows += [row | {"epsilon": epsilon} for row in both]
    found = harder_tasks_need_more(
        make_results(rows), hard=["imdb"], easy=["adult"], mechanism=IDN, margin=0.01
    )
    part = found.parts[1]
    assert part.name == "Adult learns more than IMDB at 1e+09"
    assert float(part.found.split()[0]) == pytest.approx(1.0, abs=0.05)


def test_a_task_that_is_never_learned_shows_nothing(make_results):
    rows = runs("federated_horizontal", idn=0.4, non_private=0.9)
    rows += runs("federated_horizontal", "adult", 32_561, idn=0.7, non_private=0.85)
    found = harder_tasks_need_more(
        make_results(rows), hard=["imdb"], easy=["adult"], mechanism=IDN, margin=0.01
    )
    assert found.parts[1].verdict == "inconclusive"
    assert "no signal" in found.parts[1].reason


def test_mechanisms_are_close_at_the_largest_budget_that_all_of_them_have(make_results):
    means = {
        1e7: {"idn": 0.6, "mvg_sqrt": 0.5, "gaussian_per_element": 0.5},
        1e8: {"idn": 0.8, "mvg_sqrt": 0.6, "gaussian_per_element": 0.81},
        1e9: {"mvg_sqrt": 0.9},
    }
    rows = [
        row | {"epsilon": epsilon}
        for epsilon, scores in means.items()
        for row in runs("federated_horizontal", **scores)
    ]
    found = horizontal_trend(
        make_results(rows),
        datasets=["imdb"],
        mechanisms=["idn", "gaussian-per-element", "mvg-sqrt"],
        rising={},
        close=0.05,
        margin=0.01,
    )
    name = "IMDB, Gaussian per element close to MGM-IDN at epsilon 1e+08"
    assert (found.parts[-1].name, found.verdict) == (name, "confirmed")


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
    rows = read_results([STORED / "federated_horizontal.parquet"]).rows
    norms = select(rows, dataset="imdb", metric="noise_norm", calibration="published")
    run = norms[norms["mechanism"].isin([IDN, ELEMENT])]
    assert len(run) >= 8
    for row in run.itertuples():
        expected = 0.3 * noise_norm(row.mechanism, SMALL["imdb"], 10, row.epsilon)
        assert row.value == pytest.approx(expected, rel=1e-9)
