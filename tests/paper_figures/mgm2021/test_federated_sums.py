"""The order of IDN and the Gaussian under both readings of eq. (29), on made-up accuracies."""

import pytest

from paper_figures.mgm2021.federated_verdicts import federated_order

IDN, ELEMENT = "idn", "gaussian-per-element"
ARGUMENTS = {
    "study": "federated_horizontal",
    "beside": {"federated_sums": "sums"},
    "datasets": ["imdb"],
    "above": {"default": [("idn", "baseline")]},
    "explained": (IDN, ELEMENT, "gaussian"),
    "choice": "how they accumulate",
    "readings": {"a share": {"baseline": [ELEMENT]}, "all": {"baseline": ["gaussian"]}},
    "margin": 0.01,
}


def runs(study, **means):
    cell = {"paper": "mgm2021", "study": study, "dataset": "imdb", "data_source": "official"}
    cell |= {"delta": 1e-5, "epsilon": 1e9, "round": 3}
    rows = [cell | {"metric": metric, "value": 100.0} for metric in ("records", "uses")]
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


def test_without_sums_the_means_are_judged(make_results):
    rows = runs("federated_horizontal", idn=0.6, gaussian_per_element=0.7, gaussian=0.75)
    found = federated_order(make_results(rows), **ARGUMENTS)
    assert [each.choice for each in found.outcomes] == ["a share", "all"]


def test_one_reading_with_sums_is_two_outcomes(make_results):
    rows = runs("federated_horizontal", idn=0.6, gaussian_per_element=0.7)
    rows += runs("federated_sums", idn=0.8, gaussian_per_element=0.7)
    found = federated_order(make_results(rows), **ARGUMENTS)
    assert [each.choice for each in found.outcomes] == ["a share", "a share; sums"]
    assert found.verdict == "depends"
