"""Composition by formula against optimal composition, and mgm2021's sampling lemma."""

import math

import mpmath as mp
import pytest

from mechanisms import Budget
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.sampling import kairouz


def composed(step, times, slack):
    """(epsilon~, 1 - (1 - delta)^k (1 - delta~)) of Theorem 3.4, in high precision."""
    with mp.workdps(50):
        e, k, delta = mp.mpf(step.epsilon), mp.mpf(times), mp.mpf(step.delta)
        terms = [k * e]
        if slack:
            drift = (mp.e**e - 1) * e * k / (mp.e**e + 1)
            terms.append(drift + e * mp.sqrt(2 * k * mp.log(mp.e + mp.sqrt(k * e**2) / slack)))
            terms.append(drift + e * mp.sqrt(2 * k * mp.log(1 / mp.mpf(slack))))
        return float(min(terms)), float(1 - (1 - delta) ** times * (1 - mp.mpf(slack)))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("delta", [0.0, 1e-12, 1e-5, 0.5])
@pytest.mark.parametrize("times", [1, 2, 10, 400, 5000])
def test_shares_compose_to_the_total(epsilon, delta, times):
    each = kairouz.share(Budget(epsilon=epsilon, delta=delta), times)
    total = composed(each, times, 0.0 if times == 1 else delta / 2)
    assert total == pytest.approx((epsilon, delta), rel=1e-11)
    assert each.epsilon >= epsilon / times * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 3.0, 20.0])
@pytest.mark.parametrize("times", [2, 30, 500])
def test_never_better_than_the_optimal_composition_nor_far_from_it(epsilon, times):
    delta = 1e-6
    each = kairouz.share(Budget(epsilon=epsilon, delta=delta), times)
    # Theorem 3.3: 1 - (1 - delta)^k (1 - delta_i) at epsilon, with delta_i of randomised response.
    optimal = PureProfile(largest=each.epsilon, times=times)
    own = optimal.delta(epsilon).value
    assert 1 - (1 - each.delta) ** times * (1 - own) <= delta
    # With many uses the loss is nearly normal; this is its tail bound.
    if times * each.epsilon**2 > 1:
        assert epsilon < 1.25 * optimal.epsilon(delta / 2).value


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 2.0, 40.0, 599.0, 601.0, 1e6])
@pytest.mark.parametrize("rate", [1e-3, 0.2, 0.9, 1.0])
def test_the_lemma_as_printed(epsilon, rate):
    found = kairouz.before_sampling(epsilon, rate)
    with mp.workdps(60):
        e, star = mp.mpf(epsilon), mp.mpf(found)
        printed = (mp.exp(e) - 1) / (mp.exp(star) + mp.exp(e) - mp.exp(e - star) - 1)
    assert float(printed) == pytest.approx(rate, rel=1e-9)


@pytest.mark.parametrize("rate", [0.01, 0.5, 1.0])
def test_the_lemma_is_exact_for_a_record_against_its_absence(rate):
    """The largest ratio after sampling, for two values that are each epsilon* from no value."""
    star = 0.7
    nothing, first, second = 0.2, 0.2 * math.exp(star), 0.2 * math.exp(-star)
    ratio = (rate * first + (1 - rate) * nothing) / (rate * second + (1 - rate) * nothing)
    assert kairouz.before_sampling(math.log(ratio), rate) == pytest.approx(star, rel=1e-12)
