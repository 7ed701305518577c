"""A limit as a file that anybody can check: `check_limit.py` at the top of the repository does."""

from dataclasses import replace

from mechanisms.limit.lattice import LatticeTest
from mechanisms.limit.limit import limit
from mechanisms.limit.threshold_test import ThresholdTest
from mechanisms.query.query import Budget, Query

# More dimensions are served by so many, whose caps interval arithmetic bounds quickly.
_DIMENSIONS = 1000
# The bound is lowered by this share: a check takes seconds then, and not hours.
_SLACK = {ThresholdTest: 1e-3, LatticeTest: 1e-6}


def limit_certificate(query: Query, budget: Budget) -> dict:
    """The test, its weight and what it proves, as check_limit.py reads them.

    The bound is that of `limit` less 0.1%, and of at most 1,000 dimensions. A search takes up to
    5 s.

    Args:
        query: Its neighbours may differ by any vector of l2 length up to the sensitivity.
        budget: delta > 0.

    Raises:
        ValueError: Another query, or no test of this budget: at delta 0 the limit is a formula, and
            below epsilon 0.05 that of one element rests on longer changes.
    """
    s, dimension = query.l2_sensitivity, min(query.size, _DIMENSIONS)
    ball = Query(shape=(dimension,), l2_sensitivity=1.0)
    if query != replace(ball, shape=query.shape, l2_sensitivity=s):
        raise ValueError(
            "the certificate of a limit is for a query with a shape and an l2 sensitivity alone"
        )
    test = limit(ball, budget).test
    if type(test) not in _SLACK or test.epsilon != budget.epsilon:
        raise ValueError(
            f"no single test proves the limit at epsilon {budget.epsilon:g} and delta "
            f"{budget.delta:g}, so it has no certificate; docs/the_limit.md has its proof"
        )
    if isinstance(test, ThresholdTest):
        kind, written = "threshold", _threshold(test)
    else:
        kind, written = "lattice", _lattice(test)
    value = test.lower(budget.delta) * (1 - _SLACK[type(test)])
    claim = {"epsilon": _text(budget.epsilon), "delta": _text(budget.delta)}
    return {
        "claim": {"elements": query.size, "l2": _text(s), **claim},
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
    """All digits, without a plus sign."""
    return repr(float(value)).replace("e+", "e")
