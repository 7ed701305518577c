"""Judges of lemmas and remarks: against other formulas, and with statements that are false."""

import math

import numpy as np
import pytest

from paper_figures.imgm2022.lemmas import (
    applies_to_matrices,
    loss_condition,
    loss_variable,
    magnitude_of_directions,
    split_of_the_smallest,
)
from paper_figures.mgm2021.lemmas import exact_entries, norm_inequality, only_for_small_data
from paper_figures.r1smg2024.lemmas import (
    angle_bound,
    component_sensitivity,
    harmonic_inequality,
    noise_of_components,
    outperforms,
    stable_accuracy,
)
from paper_figures.r1smg2024.numbers import DENSEST_WINDOW, LARGEST_COUNT, PLACES
from paper_figures.tldp2025.theorems import bound_on_kl


def test_the_bound_on_angles_is_at_least_half_of_pi_times_the_probability():
    # At P = 3 the event has the probability 1 - sin(theta_0), and the bound is pi/2 cos(theta_0).
    finding = angle_bound(sizes=[3], angles=50)
    assert finding.verdict == "confirmed"
    assert "at least 1.57 times" in finding.numbers
    least = min(math.pi / 2 * math.cos(t) / (1 - math.sin(t)) for t in np.linspace(0, 1.5, 100))
    assert least == pytest.approx(math.pi / 2)


def test_the_harmonic_inequality_is_attained_by_equal_values():
    finding = harmonic_inequality(sizes=[(1, 1), (5, 7)], draws=50)
    assert finding.verdict == "confirmed"
    assert "left over right 1 to" in finding.numbers


def test_the_sensitivity_of_components_is_not_another_number():
    assert component_sensitivity(stated=0.1413271381, tolerance=1e-9).verdict == "confirmed"
    assert component_sensitivity(stated=0.1999, tolerance=1e-9).verdict == "contradicted"


def test_noise_at_which_others_are_as_near_as_r1smg():
    finding = noise_of_components(others=["gaussian"], much=0.1)
    assert finding.verdict == "partly"
    for words in ("R1SMG 0.589 at 0.2", "Gaussian 0.557 at 1.2", "Gaussian 0.577 at 1.4"):
        assert words in finding.detail


def test_r1smg_is_less_stable_and_larger_at_equal_true_privacy():
    verdicts = {p.name: p.verdict for p in outperforms(others=["gaussian"], side=10).parts}
    assert verdicts["loss below gaussian as published"] == "confirmed"
    assert verdicts["loss below gaussian at 3 elements, as published"] == "contradicted"
    assert verdicts["loss below gaussian at equal true privacy"] == "contradicted"
    # Of R1SMG the loss is sigma times a chi-square with one degree: deviation sqrt(2) of the mean.
    spread = next(
        p for p in stable_accuracy(others=["gaussian"], side=10).parts if "spread" in p.name
    )
    assert spread.found == "1.41 against 0.14"


def test_a_cell_of_every_box_has_more_pickups_than_stated():
    assert math.ceil(DENSEST_WINDOW / 4) > 1.1 * LARGEST_COUNT
    assert len(PLACES) == 2


def test_lemmas_of_imgm():
    assert loss_variable(shape=(3, 2), draws=10, tolerance=1e-6).verdict == "confirmed"
    arguments = {"epsilons": [0.1, 3.0], "deltas": [0.1, 1e-5], "tolerance": 1e-6}
    assert loss_condition(**arguments, shift=1e-4).verdict == "confirmed"
    uneven = magnitude_of_directions(shares=[0.9], informative=[0, 1])
    assert uneven.verdict == "contradicted"
    # Two of six directions with a third of the precision is equal precision.
    assert magnitude_of_directions(shares=[1 / 3], informative=[0, 1]).verdict == "confirmed"
    matrices = applies_to_matrices(shapes=[(2, 3)], epsilon=1.0, delta=1e-5)
    assert matrices.verdict == "contradicted"


@pytest.mark.parametrize("split", [4.0, 0.5, 3.0])
def test_a_split_moves_noise_only_with_more_of_it(split):
    equal, kept = split_of_the_smallest(shape=(2, 3), split=split).parts
    assert equal.verdict == kept.verdict == "contradicted"
    assert equal.found == "every element keeps its variance"
    # The row of the smallest value has split^2 times the variance, its column 1/split^2 times.
    least, most = sorted((split**-2, split**2))
    assert kept.found.startswith(f"an element has {least:.4g} to {most:.4g} times its variance")
    # All other values are the larger k: (split^2 + k^2) (split^-2 + 2 k^2) over 6 elements.
    k = max(split, 1 / split)
    overhead = (split**2 + k**2) * (split**-2 + 2 * k**2) / 6
    assert f"E||Z||^2 is {overhead:.4g} times" in kept.found


def test_where_no_value_can_be_larger_a_split_moves_nothing():
    for shape, split in (((1, 1), 4.0), ((2, 3), 1.0)):
        for part in split_of_the_smallest(shape=shape, split=split).parts:
            assert part.verdict == "contradicted"
            assert part.found == "every element keeps its variance"


def test_lemmas_of_mgm():
    assert norm_inequality(shapes=[(2, 3)], draws=20).verdict == "confirmed"
    arguments = {"epsilon": 1.0, "delta": 1e-5, "draws": 20, "tolerance": 1e-6}
    assert exact_entries(shape=(3, 5), **arguments).verdict == "confirmed"
    assert only_for_small_data(data=["mnist"]).verdict == "contradicted"


def test_a_divergence_bounds_nothing_pure():
    finding = bound_on_kl(epsilons=[1.0])
    assert [part.verdict for part in finding.parts] == ["confirmed", "contradicted"]
    # KL of randomised response: (2p - 1) log(p / (1 - p)) with p = e / (1 + e).
    p = math.e / (1 + math.e)
    assert "0.462 at 1" in finding.parts[0].found
    assert (2 * p - 1) * math.log(p / (1 - p)) == pytest.approx(0.4621, abs=1e-4)
