"""What the tests of both federated studies of mgm2021 share."""

from dataclasses import replace

import pytest

from paper_figures.mgm2021.federated_accuracies import MAJORITY
from tests.paper_figures.mgm2021.made_up_accuracies import ELEMENT, IDN, MARGIN, MM, MVG, WHOLE


@pytest.fixture(autouse=True)
def only_a_random_answer_is_the_floor(monkeypatch):
    """Accuracies here are made up for balanced classes; single tests set another majority."""
    monkeypatch.delitem(MAJORITY, "adult")
    monkeypatch.delitem(MAJORITY, "mnist")


@pytest.fixture
def order_claim(make_claim):
    def make(**changed):
        arguments = {
            "datasets": ["mnist", "adult"],
            "range": None,
            "above": {"default": [[IDN, "baseline"], ["baseline", MVG]]},
            "close": {"default": []},
            "choice": "the Gaussian",
            "readings": {
                "on each element": {"baseline": [ELEMENT]},
                "on the whole layer": {"baseline": [WHOLE, MM]},
            },
            "decided_by": "more trials",
        }
        return replace(make_claim(**(arguments | changed)), margin=MARGIN)

    return make
