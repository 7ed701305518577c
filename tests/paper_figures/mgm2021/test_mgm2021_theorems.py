"""Verdicts on mgm2021's theorems, which a wrong number must change."""

import numpy as np
import pytest

from claims.claim import all_claims
from claims.judged_rows import calibrated
from claims.verdicts import CONFIRMED, CONTRADICTED
from paper_figures.mgm2021 import theorems
from papers import mgm2021

CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "mgm2021"}


@pytest.mark.parametrize(
    ("gaussian", "expected"),
    [("composed", CONFIRMED), ("whole", CONTRADICTED), ("literal", CONTRADICTED)],
)
def test_the_gaussian_of_table_4_decides(gaussian, expected, monkeypatch):
    losses = theorems.GAUSSIAN_LOSSES
    monkeypatch.setitem(losses, "composed", losses[gaussian])
    found = theorems.beats_gaussian(**CLAIMS["mgm-beats-gaussian"].arguments)
    assert found.verdict == expected
    assert "the Gaussian on the whole layer has 65 to 1.1e+05 times less error" in found.detail


def test_all_of_epsilon_on_each_element_needs_less_noise_than_the_whole_layer():
    # The former may therefore replace the latter in mgm-f2-order, in the paper's favour.
    for setting in mgm2021.SETTINGS:
        literal, whole = (
            theorems.GAUSSIAN_LOSSES[key](setting.query, setting.budget)
            for key in ("literal", "whole")
        )
        assert whole == pytest.approx(setting.query.size * literal)


@pytest.mark.parametrize("shape", [(2, 10), (105, 12)])
def test_the_matrix_mechanism_is_the_gaussian_of_the_same_sensitivity(shape, monkeypatch):
    def verdicts():
        both = theorems.same_noise_on_elements, theorems.same_noise_on_whole
        return [each("close", shape).verdict for each in both]

    assert verdicts() == [CONFIRMED, CONFIRMED]
    # With noise for other sensitivities they differ.
    monkeypatch.setattr(
        theorems,
        "calibrated",
        lambda key, query, budget: calibrated(
            "gaussian" if key == "gaussian-per-element" else "gaussian-per-element", query, budget
        ),
    )
    assert verdicts()[0] == CONTRADICTED


def test_a_record_changes_all_features_of_a_batch_of_its_own():
    given = CLAIMS["mgm-sensitivities"].arguments | {"features": {"adult": [1, 10]}}
    assert theorems.features_of_a_batch(**given).verdict == CONFIRMED


def test_the_ratio_of_the_right_hand_sides_falls_at_small_matrices():
    """Compared with a closed form that is derived here for MGM and for MVG's root."""
    found = theorems.mvg_right_hand_side(tolerance=0.05)
    verdicts = {part.name: part.verdict for part in found.parts}
    contradicted = [name for name, verdict in verdicts.items() if verdict == CONTRADICTED]
    assert contradicted == ["features of Adult, epsilon 10, over H_r^2:"]
    assert len(verdicts) == 12
    (shown,) = [part.found for part in found.parts if part.name == contradicted[0]]
    m, n, epsilon, delta = 2, 10, 10.0, 1e-5
    h, s, gamma = 1.5, 2 * 20**0.5, 20**0.5
    square = -2 * np.log(delta) + 2 * np.sqrt(-m * n * np.log(delta)) + m * n
    # mvg2018: alpha = (H_r + H_{r,1/2}) gamma^2 + 2 H_r gamma s, beta = 2 (mn)^(1/4) zeta H_r s.
    halves = 1 + 2**-0.5
    alpha = (h + halves) * gamma**2 + 2 * h * gamma * s
    beta = 2 * (m * n) ** 0.25 * np.sqrt(square) * h * s
    mvg = (-beta + np.sqrt(beta**2 + 8 * alpha * epsilon)) ** 2 / (4 * alpha**2)
    mgm = (-np.sqrt(square) + np.sqrt(square + 2 * epsilon)) ** 2 / s**2
    assert float(shown.split()[0]) == pytest.approx(mgm / mvg / np.sqrt(m * n) / h**2, rel=1e-3)
