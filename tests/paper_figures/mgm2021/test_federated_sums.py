"""The order of IDN and the Gaussian under both readings of eq. (29), on made-up accuracies."""

import pytest

from paper_figures.mgm2021.federated_study import SUMS, study_size
from paper_figures.mgm2021.federated_verdicts import federated_order, harder_tasks_need_more
from studies.federated_horizontal import SMALL

IDN, ELEMENT = "idn", "gaussian-per-element"
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


def runs(study, dataset="imdb", **means):
    cell = {"paper": "mgm2021", "study": study, "dataset": dataset, "data_source": "official"}
    cell |= {"delta": 1e-5, "epsilon": 1e9, "round": 3}
    facts = {"records": 100.0, "uses": 100.0, "parameters": SMALL["imdb"].size}
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


def test_a_reading_or_a_data_set_that_was_not_run_is_an_open_part(make_results):
    rows = runs("federated_horizontal", idn=0.8, gaussian_per_element=0.7)
    found = federated_order(make_results(rows), **ARGUMENTS | {"datasets": ["imdb", "adult"]})
    assert [[part.verdict for part in each.parts] for each in found.outcomes] == [
        ["confirmed", "not run"], ["not run", "not run"]
    ]  # fmt: skip
    assert (found.outcomes[1].parts[1].name, found.verdict) == ("Adult", "inconclusive")


def test_the_sums_have_the_network_with_which_they_were_run(make_results):
    size = study_size(make_results(runs(SUMS, idn=0.8)).rows, SUMS, "imdb")
    assert size.network == "small network"


@pytest.mark.parametrize(("level", "verdict"), [(0.4955, "inconclusive"), (0.7, "confirmed")])
def test_without_a_gain_no_share_of_it_is_kept(make_results, level, verdict):
    # The majority class of IMDB scores 0.5, as training without noise does at first.
    rows = runs("federated_horizontal", idn=0.5, non_private=level)
    rows += runs("federated_horizontal", "adult", idn=0.8, non_private=0.85)
    found = harder_tasks_need_more(
        make_results(rows), hard=["imdb"], easy=["adult"], mechanism=IDN, margin=0.01
    )
    assert [part.verdict for part in found.parts] == ["confirmed", verdict]
