"""Write certificates of the limits, at the budgets of the table in docs/the_limit.md."""

import json
from pathlib import Path

from claims.certificates import FOLDER
from mechanisms import Budget, Query
from mechanisms.limit.certificate import limit_certificate

LIMITS = FOLDER / "limits"
SIZES = (1, 2, 3, 5, 10, 100, 1000)
BUDGETS = [(epsilon, 1e-5) for epsilon in (0.1, 1.0, 5.0)]


def write_limits() -> list[Path]:
    """Write a file for each number of elements, at l2 sensitivity 1, and return the paths."""
    LIMITS.mkdir(exist_ok=True)
    paths = []
    for size in SIZES:
        query = Query(shape=(size,), l2_sensitivity=1.0)
        made = [limit_certificate(query, Budget(epsilon=e, delta=d)) for e, d in BUDGETS]
        lines = ",\n".join(json.dumps(each) for each in made)
        paths.append(LIMITS / f"elements-{size}.json")
        paths[-1].write_text(f'{{"limits": [\n{lines}\n]}}\n', encoding="utf-8")
    return paths
