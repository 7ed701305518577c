"""Measure how often the checks find planted mistakes and accuse correct mechanisms.

From the root: PYTHONPATH=. python tests/mechanisms/check/measure_power.py 20 10000
"""

import sys

import numpy as np
from planted_mistakes import BUDGET, SMALL
from test_false_alarms import EPSILONS, QUERIES, SLOW, served

from mechanisms import Budget, Inconsistent, Query, all_mechanisms
from mechanisms.base.guard import ReleaseError
from mechanisms.check.checks import THOROUGH, require_consistent_in_study
from mechanisms.check.checks import require_consistent as require

QUERY = Query(shape=(16, 24), l2_sensitivity=1.0)


def in_verify(mechanism, seed):
    require(mechanism, seed=seed, effort=THOROUGH)


def first_of_a_cell(mechanism, seed):
    require_consistent_in_study(mechanism, seed=seed, first=True)


def other_of_a_cell(mechanism, seed):
    require_consistent_in_study(mechanism, seed=seed, first=False)


WAYS = {"`verify`": in_verify, "first of a cell": first_of_a_cell, "others": other_of_a_cell}


def is_found(way, mechanism, seed) -> bool:
    """Whether a check of this kind accuses the mechanism."""
    try:
        way(mechanism, seed)
    except (Inconsistent, ReleaseError):
        return True
    return False


def accused(checks: int) -> list[str]:
    """The correct mechanisms that the checks of studies accuse, in about `checks` checks."""
    keys = sorted(all_mechanisms().keys() - SLOW)
    budgets = [Budget(epsilon=epsilon, delta=1e-5) for epsilon in EPSILONS]
    correct = [
        mechanism
        for query, budget in zip(QUERIES.values(), budgets, strict=True)
        for key in keys
        for mechanism in served(key, query, budget)
    ]
    found = []
    for seed in range(checks // (2 * len(correct)) + 1):
        for mechanism in correct:
            for way in (first_of_a_cell, other_of_a_cell):
                if is_found(way, mechanism, seed):
                    found.append(f"{mechanism.key} {mechanism.query.shape} seed {seed}")
    return found


def main(runs: int, checks: int) -> None:
    """Print the share of `runs` seeds that find each mistake, and all false accusations."""
    print(f"| mistake, found in {runs} checks of 16 x 24 elements | {' | '.join(WAYS)} |")
    print("|---|" + "---|" * len(WAYS))
    for name, kind in SMALL.items():
        mechanism = kind.calibrate(QUERY, BUDGET)
        shares = [
            np.mean([is_found(way, mechanism, seed) for seed in range(runs)])
            for way in WAYS.values()
        ]
        print(f"| {name} | {' | '.join(f'{share:.0%}' for share in shares)} |", flush=True)
    found = accused(checks)
    print(f"\n{len(found)} of {checks:,} checks of correct mechanisms in studies accused", *found)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
