"""The output of `verify` as JSON and text, its status, and no verdict on a contradiction."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy.stats import norm

from mechanisms import (
    Budget,
    Query,
    get_mechanism,
)
from mechanisms.__main__ import main
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import Bounds
from mechanisms.verification.explanation import explain
from mechanisms.verification.verification import (
    INCONSISTENT,
    verify,
)


def calibrated(key, size, budget):
    return get_mechanism(key).calibrate(Query(shape=(size,), l2_sensitivity=1.0), budget)


def test_verify_as_json(capsys):
    arguments = ["verify", "r1smg", "--shape", "16", "--l2-sensitivity", "1", "--epsilon", "1"]
    assert main([*arguments, "--delta", "1e-5", "--samples", "5000", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["claimed"] == {"epsilon": 1.0, "delta": 1e-5}
    assert answer["verdict"] == "refuted"
    bounds = answer["bounds"]["true_delta_at_epsilon"]
    assert bounds["lower"] <= answer["true_delta_at_epsilon"] <= bounds["upper"]
    assert answer["audit"]["samples"] == 5000


def test_the_attack_explains_the_epsilon():
    """For Gaussian noise of mu = 1: Phi(1 - PhiInv(0.99)) at 1% false positives, and Phi(1/2)."""
    epsilon = GaussianProfile(mu=1.0).epsilon(1e-5).value
    budget = Budget(epsilon=epsilon, delta=1e-5)
    result = verify(calibrated("gaussian-analytic", 4, budget), effort=None)
    assert result.true_positive_rate.value == pytest.approx(0.09236224807, rel=1e-9)
    assert result.advantage.value == pytest.approx(2 * 0.691462461274013 - 1, rel=1e-9)
    found = result.to_dict()
    assert found["true_positive_rate_at_1_percent"] == result.true_positive_rate.value
    shown = explain(result)
    assert "true positive rate 0.0923622 at a false positive rate of 0.01" in shown
    assert "with probability 0.691462" in shown


def test_verify_in_words():
    shown = explain(verify(calibrated("r1smg", 16, Budget(epsilon=1, delta=1e-5))))
    assert "refuted: the claim is false" in shown
    assert "\n  query        16, M = 16, l2 sensitivity 1, add-remove\n" in shown
    # Theorem 5's variance: 2 s^2 / (epsilon psi), which is E||noise||^2.
    psi = (1e-5 * math.gamma(7.5) / (math.sqrt(math.pi) * math.gamma(8))) ** (2 / 14)
    assert f"noise        sigma_star {2 / psi:.6g}, expected squared norm {2 / psi:.6g}\n" in shown


def test_a_bound_is_rounded_in_its_direction_and_shown_where_it_differs():
    result = verify(calibrated("r1smg", 16, Budget(epsilon=1, delta=1e-5)), effort=None)
    assert "true delta   0.441704 at that epsilon\n" in explain(result)
    apart = Bounds(lower=0.12345678, value=0.1234574, upper=0.12345812)
    shown = explain(dataclasses.replace(result, true_delta=apart))
    assert "true delta   0.123457 at that epsilon [0.123456, 0.123459]\n" in shown
    # A probability that is below 1 is not shown as 1.
    near_one = dataclasses.replace(result, true_delta=Bounds(0.9999999, 0.99999995, 1.0))
    assert "true delta   above 0.999999 at that epsilon\n" in explain(near_one)
    for bounds, words in ((Bounds(0.0, 0.0, 0.0), "0"), (apart, "between 0.123456 and 0.123459")):
        assert f"delta        {words} at that epsilon\n" in explain(
            dataclasses.replace(result, true_delta=bounds, slack="a reason")
        )


@pytest.mark.parametrize("command", ["verify", "calibrate", "audit"])
@pytest.mark.parametrize(
    ("key", "query", "claim"),
    [
        ("laplace", ["--l1-sensitivity", "1"], "pure privacy"),
        ("tldp-l", ["--element-range", "0,1", "--adjacency", "local"], "pure local privacy"),
        ("wishart", ["--structure", "gram", "--record-bound", "1"], "pure privacy"),
    ],
)
def test_a_delta_that_the_claim_lacks_is_reported(command, key, query, claim, capsys):
    arguments = [command, key, "--shape", "2x2", *query, "--epsilon", "1"]
    arguments += [] if command == "calibrate" else ["--samples", "600"]
    assert main([*arguments, "--delta", "1e-5"]) == 0
    # `calibrate` reports a refuted claim in another line.
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if not line.startswith("warning: ")] == [
        f"note: the claim has delta 0, not 1e-05: {key} as published claims {claim}"
    ]
    assert main(arguments) == 0
    assert "note:" not in capsys.readouterr().err


def test_a_claim_has_the_delta_of_the_budget_where_noise_is_calibrated_to_it(capsys):
    query = ["--shape", "4", "--l1-sensitivity", "1", "--epsilon", "1", "--delta", "1e-5"]
    assert main(["verify", "laplace", *query, "--calibration", "exact"]) == 0
    shown, told = capsys.readouterr()
    assert "  claim        (1, 1e-05)-differential privacy" in shown and told == ""
    # A mechanism without a claim has no claimed delta.
    assert main(["calibrate", "non-private", *query]) == 0
    assert capsys.readouterr().err == ""


class HundredTimesTooSmall(GaussianProfile):
    """A profile with the losses of a Gaussian and a hundredth of its delta."""

    def _log_delta(self, epsilon):
        return Bounds(*(bound - math.log(100) for bound in super()._log_delta(epsilon)))


def test_losses_that_contradict_their_profile_leave_no_verdict():
    mechanism = calibrated("gaussian-analytic", 4, Budget(epsilon=0.5, delta=1e-3))
    noise = type(mechanism.noise)

    class TooGood(noise):
        def profile(self, query):
            return HundredTimesTooSmall(mu=query.reach / self.sigma)

    wrong = dataclasses.replace(mechanism, noise=TooGood(shape=(4,), sigma=mechanism.noise.sigma))
    result = verify(wrong, samples=20_000, effort=None)
    assert (result.verdict, result.comparison) == (INCONSISTENT, None)
    assert "privacy losses that its profile draws" in explain(result)
    assert "20,000" in result.contradiction
    # Too few samples of losses to tell, but its releases show it.
    assert verify(wrong).verdict == INCONSISTENT


def test_low_bits_of_gaussian_noise_tell_a_zero():
    """Tests the share in SHARP_EDGES.md. Noise below 1/2 is spaced finer than 2^-53; a sum is not.

    A share of 1 - 2^-k of the |n| in [2^-(k+1), 2^-k) has bits beyond 2^-53.
    """
    mechanism = get_mechanism("gaussian-analytic").calibrate(
        Query(shape=(1,), l2_sensitivity=1.0), Budget(epsilon=1.0, delta=1e-5)
    )
    ends = norm.cdf(2.0 ** -np.arange(1, 60) / mechanism.noise.sigma) - 0.5
    share = float(np.sum(2 * -np.diff(ends) * (1 - 2.0 ** -np.arange(1, 59))))
    assert share == pytest.approx(0.071, abs=5e-4)
    for value, expected in ((0.0, share), (1.0, 0.0)):
        answers = mechanism.releases(np.array([value]), 1, 40_000) * 2.0**53
        found = float(np.mean(answers != np.rint(answers)))
        assert found == pytest.approx(expected, abs=5 * math.sqrt(share / 40_000) * (value == 0))
