"""Rules on one noise, on claims whose verdict is known."""

import pytest

from claims import stated_noise
from claims.judges import CannotJudge
from claims.stated_noise import Setting, StatedQuery
from claims.verdicts import CONFIRMED, CONTRADICTED

SETTING = {"query": {"shape": [64], "l2_sensitivity": 1.0}, "epsilon": 0.5, "delta": 1e-5}


def decide(rule, **fields):
    """The finding of a rule on these fields of a claim."""
    judge = getattr(stated_noise, rule).judge
    return judge.decide(None, dict(judge.schema.model_validate(fields)))


def test_a_guarantee_is_judged_with_an_audit_and_the_stated_delta():
    setting = SETTING | {"delta": 0.0, "options": {"k": 1000}, "epsilon": 1.0, "stated": 3.03313e-4}
    finding = decide(
        "stated_guarantee", mechanism="product-noise", settings=[setting], samples=20_000
    )
    assert finding.verdict == CONTRADICTED
    assert "refutes the claim at all 1 settings" in finding.detail
    assert (
        "At 1 of 1 settings the source states a delta; ours agrees with it to 1" in finding.detail
    )
    held = decide("stated_guarantee", mechanism="gaussian", settings=[SETTING])
    assert held.verdict == CONFIRMED
    assert held.ours.startswith("true at 1 of 1 settings; M = 64")


def test_an_upper_bound_of_the_true_delta_is_called_so():
    query = {"shape": [4], "l2_sensitivity": 1.5, "l1_sensitivity": 2.0}
    finding = decide(
        "stated_guarantee", mechanism="laplace", settings=[{"query": query, "epsilon": 0.5}]
    )
    assert "true at most 4.45e-16" in finding.detail


def test_smaller_noise_of_each_mechanism_is_compared_at_both_calibrations():
    finding = decide(
        "smaller_noise",
        mechanisms=["r1smg", "gaussian-analytic"],
        others=["gaussian"],
        settings=[SETTING],
    )
    assert [(part.name.split(" below ")[0], part.verdict) for part in finding.parts] == [
        ("R1SMG", CONFIRMED),
        ("Analytic Gaussian", CONFIRMED),
        ("R1SMG", CONTRADICTED),
        ("Analytic Gaussian", CONTRADICTED),
    ]


def test_one_setting_has_to_beat_all_others_together():
    # E||noise||^2 of the l2 mechanism, the Gaussian and Laplace noise: 6, 28 and 4 at 2 elements,
    # 10100, 1400 and 20000 at 100.
    few, many = (
        {"query": {"shape": [size], "l2_sensitivity": 1.0, "l1_sensitivity": l1}, "epsilon": 1.0}
        | {"delta": 1e-5}
        for size, l1 in ((2, 1.0), (100, 10.0))
    )
    arguments = {
        "mechanisms": ["l2"],
        "others": ["gaussian-analytic", "laplace"],
        "settings": [few, many],
        "settings_needed": "some",
        "calibrations": ["published"],
    }
    for other in arguments["others"]:
        apart = decide("smaller_noise", **arguments | {"others": [other]})
        assert apart.verdict == CONFIRMED
    assert decide("smaller_noise", **arguments).verdict == CONTRADICTED


def test_a_lead_within_the_tolerance_does_not_count():
    # The loss of Laplace noise is 4 against 6 of the l2 mechanism, a third less.
    setting = {"query": {"shape": [2], "l2_sensitivity": 1.0, "l1_sensitivity": 1.0}}
    arguments = {"mechanisms": ["laplace"], "others": ["l2"], "calibrations": ["published"]}
    arguments["settings"] = [setting | {"epsilon": 1.0, "delta": 1e-5}]
    assert decide("smaller_noise", tolerance=0.33, **arguments).verdict == CONFIRMED
    assert decide("smaller_noise", tolerance=0.34, **arguments).verdict == CONTRADICTED


@pytest.mark.parametrize(("stated", "verdict"), [(3.0, CONFIRMED), (2.0, CONTRADICTED)])
def test_ratios_of_variances(stated, verdict):
    setting = {"query": {"shape": [3, 2], "box": [-1, 1]}, "epsilon": 1.0, "delta": 1e-5}
    finding = decide(
        "variance_ratio",
        tolerance=1e-9,
        mechanism="udn",
        other="idn",
        settings=[setting | {"stated": stated}],
        detail="By the number of rows.",
    )
    assert finding.verdict == verdict


def test_what_cannot_be_judged():
    given = {"mechanisms": ["analyze-gauss"], "others": ["gaussian"], "settings": [SETTING]}
    with pytest.raises(CannotJudge, match="needs structure 'gram'"):
        decide("smaller_noise", **given)


def test_queries_and_settings_in_words():
    assert StatedQuery(shape=[2, 2], box=(-1, 1)).query().l2_sensitivity == 4.0
    setting = {"query": {"shape": [8], "l2_sensitivity": 1.0}, "epsilon": 0.5, "delta": 1e-5}
    assert str(Setting(**setting)) == "M = 8, epsilon 0.5, delta 1e-05"


def test_noise_that_keeps_its_claim_is_not_beyond_the_limit():
    found = decide("smaller_noise", mechanisms=["gaussian"], others=["l2"], settings=[SETTING])
    assert "beyond the limit" not in found.detail
    setting = {"query": {"shape": [784], "l2_sensitivity": 1.0}, "epsilon": 0.1, "delta": 1e-5}
    found = decide(
        "smaller_noise", mechanisms=["product-noise"], others=["gaussian"], settings=[setting]
    )
    assert "At 1 of 1 settings the published noise is beyond the limit" in found.detail
