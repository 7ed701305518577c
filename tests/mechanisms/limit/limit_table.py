"""The table of docs/the_limit.md: limit, best mechanism and their ratio at common budgets.

`python tests/mechanisms/limit/limit_table.py > tests/mechanisms/limit/limit_table.csv` recomputes
it in about 8 minutes on one core; the tests recompute a few of its rows.
"""

import csv
import sys
from pathlib import Path

from mechanisms import Budget, Query
from mechanisms.cli.limit_command import answer, rounded_down

TABLE = Path(__file__).with_name("limit_table.csv")
SIZES = (1, 2, 3, 4, 5, 6, 10, 100, 1000, 1_000_000)
# The page shows these rows of the table.
PAGE_SIZES, PAGE_DELTAS = (1, 3, 10, 1000, 1_000_000), (1e-5, 1e-10)
EPSILONS, DELTAS = (0.1, 0.5, 1.0, 2.0, 5.0), (1e-5, 1e-7, 1e-10)
COLUMNS = ("epsilon", "delta", "elements", "limit_rmse", "best_rmse", "best", "ratio")


def row(size: int, epsilon: float, delta: float) -> dict:
    """One setting at l2 sensitivity 1; the limit is rounded down."""
    query = Query(shape=(size,), l2_sensitivity=1.0)
    found = answer(query, Budget(epsilon=epsilon, delta=delta))
    return found | {"elements": size, "ratio": found["limit_rmse"] / found["best_rmse"]}


def markdown() -> list[str]:
    """Format the rows of the stored table for the page: limit (rounded down), best and ratio."""
    with TABLE.open() as file:
        rows = {
            (float(r["epsilon"]), float(r["delta"]), int(r["elements"])): r
            for r in csv.DictReader(file)
        }
    lines = [
        "| epsilon, delta | " + " | ".join(f"M = {size:,}" for size in PAGE_SIZES) + " |",
        "| --- |" + " --- |" * len(PAGE_SIZES),
    ]
    for epsilon in EPSILONS:
        for delta in PAGE_DELTAS:
            cells = [_cell(rows[epsilon, delta, size]) for size in PAGE_SIZES]
            lines.append(f"| {epsilon:g}, {delta:g} | " + " | ".join(cells) + " |")
    return lines


def _cell(stored: dict) -> str:
    limit, best, ratio = (float(stored[name]) for name in ("limit_rmse", "best_rmse", "ratio"))
    return f"{rounded_down(limit, 5)} of {best:.5g} ({rounded_down(ratio, 4)})"


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
