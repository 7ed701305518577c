"""Claimed and true privacy: reference values, verdicts, and the exact calibration."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from queries import box, counts

from mechanisms import (
    Budget,
    Query,
    Unsupported,
    get_mechanism,
)
from mechanisms.audit.audit import audit_mechanism
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.profile import Bounds
from mechanisms.query.box_query import box_query
from mechanisms.verification.verification import (
    HOLDS,
    LOOSE,
    REFUTED,
    UNDECIDED,
    _verdict,
    verify,
)


# The first estimate equals the claim, but only its upper bound could confirm it.
def test_verdicts_rest_on_proven_bounds_and_samples():
    unknown, near = Bounds(0.0, 0.0, 1.0), Bounds(0.9, 1.0, 1.1)
    assert _verdict(unknown, near, 1.0, 0.0, None, None) == UNDECIDED
    audit = SimpleNamespace(refutes=lambda delta: True)
    assert _verdict(unknown, near, 1.0, 0.0, None, audit) == REFUTED
    assert _verdict(unknown, Bounds(0.8, 0.9, 1.0), 1.0, 0.0, 1.02, None) == LOOSE


def calibrated(key, query, budget, calibration="published"):
    return get_mechanism(key).calibrate(query, budget, calibration)


def unit(size):
    return Query(shape=(size,), l2_sensitivity=1.0)


@pytest.mark.parametrize(
    ("size", "epsilon", "delta", "digits"),
    [(4, 1.0, 9.04e-4, 3), (16, 1.0, 0.4417, 4), (64, 1.0, 0.9280, 4), (3, 0.3, 1.853e-6, 4)],
)
def test_true_delta_of_r1smg(size, epsilon, delta, digits):
    result = verify(calibrated("r1smg", unit(size), Budget(epsilon=epsilon, delta=1e-5)))
    assert result.true_delta.value == pytest.approx(delta, rel=0.5 * 10 ** (1 - digits))
    assert result.verdict == (LOOSE if size == 3 else REFUTED)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-5, 0.21664), (1.0, 0.095716), (10.0, 0.034571)])
def test_true_delta_of_r1smg_at_the_count_query(epsilon, delta):
    query = Query(shape=(7921,), l2_sensitivity=math.sqrt(2))
    profile = calibrated("r1smg", query, Budget(epsilon=1e-5, delta=1e-7)).profile()
    assert profile.delta(epsilon).value == pytest.approx(delta, rel=6e-4)


CLASSIC, PURE = Budget(epsilon=0.5, delta=1e-5), Budget(epsilon=0.7)
BOX, MOVES = box(8, 6), counts(16, adjacency="replace")
MODEL_ROW, MODEL = box_query((1, 6), -1, 1), box_query((2, 3), -1, 1)


@pytest.mark.parametrize(
    ("verdict", "key", "query", "budget", "options"),
    [
        *(
            (LOOSE, key, BOX, CLASSIC, {})
            for key in ("gaussian", "mvg", "mgm", "udn", "idn", "gaussian-per-element")
        ),
        *((HOLDS, key, BOX, CLASSIC, {}) for key in ("gaussian-analytic", "imgm")),
        *(
            (LOOSE, "matrix-mechanism", query, CLASSIC, {"workload": "all-range"})
            for query in (counts(16), MOVES, unit(16))
        ),
        (HOLDS, "matrix-mechanism-l1", counts(40), PURE, {"workload": "prefix"}),
        *(
            (HOLDS, "hb", query, PURE, {})
            for query in (counts(3), counts(100), MOVES, counts(89, 89, adjacency="replace"))
        ),
        (LOOSE, "llagp", MODEL_ROW, CLASSIC, {"layers": [4, 2]}),
        (HOLDS, "llagp", MODEL_ROW, CLASSIC, {"layers": [6]}),
        (HOLDS, "dphsgd", MODEL, CLASSIC, {}),
        (HOLDS, "dphsgd", MODEL, CLASSIC, {"thresholds": [[0.2, 1.0, 0.5], [0.1, 0.0, 1.0]]}),
    ],
)
def test_sufficient_conditions_waste_variance_and_necessary_ones_do_not(
    verdict, key, query, budget, options
):
    mechanism = get_mechanism(key).calibrate(query, budget, **options)
    result = verify(mechanism, samples=2000)
    assert result.verdict == verdict
    if verdict == LOOSE:
        assert result.wasted_variance > 1.05
    else:
        assert result.wasted_variance == pytest.approx(1, rel=1e-9)
    if budget.delta == 0:
        assert result.true_epsilon == pytest.approx([budget.epsilon] * 3, rel=1e-9)
    assert result.audit is None or not result.audit.refutes(budget.delta)


def test_imgm_claim_covers_all_compositions():
    budget = Budget(epsilon=0.5, delta=1e-5)
    mechanism = get_mechanism("imgm").calibrate(box(4, 4), budget, compositions=25)
    assert verify(mechanism).verdict == HOLDS
    once = mechanism.noise.profile(mechanism.query)
    assert once.delta(0.5).value < 1e-12


@pytest.mark.parametrize(
    ("l1", "l2", "linf", "worst"),
    [
        # Nine, two or one of the elements change, as the box allows.
        (3.0, 1.0, 1 / 3, (9, 1 / 3)),
        (2.0, math.sqrt(2), 1.0, (2, 1.0)),
        (2.0, 2.0, None, (1, 2.0)),
        (2.0, 2.0, 2.0, (1, 2.0)),
        # No l1 sensitivity is needed if the box implies one.
        (None, 3.0, 1.0, (9, 1.0)),
    ],
)
def test_the_worst_pair_of_laplace_noise(l1, l2, linf, worst):
    query = Query(shape=(3, 3), l2_sensitivity=l2, l1_sensitivity=l1, linf_sensitivity=linf)
    noise = IndependentLaplace(shape=(3, 3), scale=2.0)
    assert noise.profile(query).slack is None
    count, width = worst
    one = LaplaceProfile(l1_sensitivity=width, scale=2.0)
    assert noise.profile(query).delta(0.1) == one.compose(count).delta(0.1)


@pytest.mark.parametrize(
    ("l1", "l2", "linf", "words"),
    [
        (2.0, 1.0, None, "l2_sensitivity excludes"),
        (6.0, 2.0, 1.0, "l2_sensitivity excludes"),
    ],
)
def test_laplace_has_no_exact_calibration_where_its_worst_pair_is_not_known(l1, l2, linf, words):
    query = Query(shape=(3, 3), l2_sensitivity=l2, l1_sensitivity=l1, linf_sensitivity=linf)
    with pytest.raises(Unsupported, match=words):
        calibrated("laplace", query, Budget(epsilon=0.5, delta=1e-5), "exact")
    # The pair used instead is at least as bad as any possible change.
    noise = IndependentLaplace(shape=(3, 3), scale=2.0)
    several = LaplaceProfile(l1_sensitivity=min(linf or 1.0, l2), scale=2.0)
    assert noise.profile(query).delta(0.1).upper >= several.delta(0.1).lower


def test_a_profile_with_slack_refutes_only_by_its_lower_bound():
    """For rotated noise under an element box, the mu of the l2 ball is only an upper bound."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    query = Query(
        shape=(4, 5), l2_sensitivity=1.0, linf_sensitivity=0.4, frobenius_bound=1.0
    )  # fmt: skip
    budget = Budget(epsilon=0.5, delta=1e-5)
    rotated = get_mechanism("mvg").calibrate(
        query, budget, directions=turn, precision=[0.7, 0.1, 0.1, 0.1]
    )  # fmt: skip
    assert "axes" in rotated.profile().slack
    bounds = rotated.profile()
    between = math.sqrt(bounds.below.mu * bounds.above.mu) / mu_for(0.5, 1e-5)
    open_question = dataclasses.replace(rotated, noise=rotated.noise.scaled(between))
    result = verify(open_question, samples=5000)
    assert result.true_delta.lower < budget.delta < result.true_delta.value
    # Nothing is sampled, because no two data sets make the pair at hand.
    assert (result.verdict, result.wasted_variance, result.audit) == (UNDECIDED, None, None)
    too_little = dataclasses.replace(rotated, noise=rotated.noise.scaled(1e-9))
    result = verify(too_little)
    assert result.true_delta.lower > budget.delta
    assert (result.verdict, result.wasted_variance) == (REFUTED, None)


def test_non_private_claims_nothing():
    for judge in (verify, lambda mechanism: audit_mechanism(mechanism, 1.0)):
        with pytest.raises(Unsupported, match="claims no privacy"):
            judge(calibrated("non-private", box(3, 3), Budget(epsilon=1)))
    with pytest.raises(Unsupported, match="no exact calibration"):
        calibrated("non-private", box(3, 3), Budget(epsilon=1), "exact")


def test_random_answer_is_perfectly_private():
    result = verify(calibrated("random-answer", box(3, 3), Budget(epsilon=1)))
    assert (result.true_delta.value, result.verdict) == (0.0, HOLDS)


def test_audit_agrees_with_the_exact_profile():
    mechanism = calibrated("r1smg", unit(16), Budget(epsilon=1, delta=1e-5))
    result = verify(mechanism, samples=20_000, seed=3)
    assert result.audit.delta_lower < result.true_delta.value < result.audit.delta_upper
    assert result.audit.refutes(1e-5)
