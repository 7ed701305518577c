"""Writes the certificate of a limit, which `check_limit.py` at the top of the repository checks."""

from mechanisms.limit.lattice import LatticeTest, lattice_test
from mechanisms.limit.limit import EPSILONS, LEAST_ON_LATTICE
from mechanisms.limit.refined_test import refined_test
from mechanisms.limit.threshold_test import ThresholdTest
from mechanisms.query.query import Budget, Query

# For more elements the limit for this many is certified, whose caps interval arithmetic can bound
# quickly.
_DIMENSIONS = 1000
# Shares by which the bound is lowered, so that a check takes seconds and not hours.
_THRESHOLD_SLACK, _LATTICE_SLACK = 1e-3, 1e-6


def limit_certificate(query: Query, budget: Budget) -> dict:
    """Return a test, its weight and the bound that it proves, as check_limit.py reads them.

    The test is the one that the search of `limit` finds for an l2 ball. The bound is lowered by
    0.1% (0.0001% for one element), and for more than 1,000 elements it is that of 1,000. If another
    argument of `limit` is better, the bound of `limit` is larger. A search takes up to 5 s.

    Args:
        query: Its neighbours may differ by any vector of l2 norm up to the sensitivity.
        budget: delta > 0, and epsilon from 1e-4 to 60 (from 0.05 for one element).

    Raises:
        ValueError: Another query or budget (at delta 0 the limit is a formula), or the search
            finds no test that proves a bound above 0.
    """
    s, dimension = query.l2_sensitivity, min(query.size, _DIMENSIONS)
    epsilon, delta = budget.epsilon, budget.delta
    if query != Query(shape=query.shape, l2_sensitivity=s):
        raise ValueError(
            "the certificate of a limit is for a query with a shape and an l2 sensitivity alone"
        )
    least, most = EPSILONS
    if dimension == 1:
        # Below this epsilon `limit` tests longer changes of one element.
        least = LEAST_ON_LATTICE
    if not (least <= epsilon <= most and delta):
        raise ValueError(
            f"a certificate of the limit needs epsilon from {least:g} to {most:g} and "
            f"delta > 0, got {epsilon:g} and {delta:g}; docs/the_limit.md has the proof for others"
        )
    if dimension == 1:
        test = lattice_test(epsilon, delta, False)
        kind, slack, written = "lattice", _LATTICE_SLACK, _lattice(test)
    else:
        test = refined_test(dimension, epsilon, delta)
        kind, slack, written = "threshold", _THRESHOLD_SLACK, _threshold(test)
    value = test.lower(delta) * (1 - slack)
    if not value > 0:
        raise ValueError(
            f"no certificate of the limit: the search finds no test at ({epsilon:g}, {delta:g})"
        )
    return {
        "claim": {
            "elements": query.size,
            "l2": _text(s),
            "epsilon": _text(epsilon),
            "delta": _text(delta),
        },
        "bound": {"value": _text(value)},
        "kind": kind,
        "test": written,
    }


def _threshold(test: ThresholdTest) -> dict:
    return {
        "d": test.dimension,
        "weight": _text(test.weight),
        "radii": [_text(r) for r in test.radii],
        "gaps": [_text(k) for k in test.gaps],
    }


def _lattice(test: LatticeTest) -> dict:
    middle = test.weights.shape[1] // 2
    tests = []
    for shift, weights in zip(test.shifts, test.weights, strict=True):
        places = weights.nonzero()[0]
        if len(places):
            numbers = [_text(w) for w in weights[places]]
            tests.append([int(shift), [int(k) - middle for k in places], numbers])
    return {"d": 1, "steps": test.steps, "tests": tests}


def _text(value: float) -> str:
    """Return a number with all its digits, without a plus sign in the exponent."""
    return repr(float(value)).replace("e+", "e")
