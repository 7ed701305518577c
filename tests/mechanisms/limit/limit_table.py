"""The table of docs/the_limit.md: limit, best mechanism and their ratio at common budgets.

`python tests/mechanisms/limit/limit_table.py > tests/mechanisms/limit/limit_table.csv` redoes it in
about 8 minutes of one core; the tests recompute a few of its rows.
"""

import csv
import sys
from pathlib import Path

from mechanisms import Budget, Query
from mechanisms.cli.limit_command import answer

TABLE = Path(__file__).with_name("limit_table.csv")
SIZES = (1, 2, 3, 5, 10, 30, 100, 1000, 10_000, 1_000_000)
EPSILONS, DELTAS = (0.1, 0.5, 1.0, 2.0, 5.0), (1e-5, 1e-7, 1e-10)
COLUMNS = ("epsilon", "delta", "elements", "limit_rmse", "best_rmse", "best", "ratio")


def row(size: int, epsilon: float, delta: float) -> dict:
    """One setting at l2 sensitivity 1; the limit is rounded down."""
    query = Query(shape=(size,), l2_sensitivity=1.0)
    return answer(query, Budget(epsilon=epsilon, delta=delta)) | {"elements": size}


def main() -> None:
    writer = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for epsilon in EPSILONS:
        for delta in DELTAS:
            for size in SIZES:
                writer.writerow(row(size, epsilon, delta))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
