"""Find what a query must state for a mechanism by calibrating to one query of each kind."""

import warnings

from mechanisms.base.mechanism import Mechanism
from mechanisms.cli.query_arguments import in_options
from mechanisms.query.named_code import error_line
from mechanisms.query.query import Budget, Query, Unsupported

SHAPE = (4, 4)
BUDGETS = (Budget(epsilon=0.5, delta=1e-5), Budget(epsilon=0.5))
# Statements of a query beside its shape: options of the command line, an example of each.
KINDS = {
    "--l2-sensitivity": {"l2_sensitivity": 1.0},
    "--l1-sensitivity": {"l1_sensitivity": 1.0},
    "--linf-sensitivity": {"linf_sensitivity": 1.0},
    "--element-range": {"element_range": (0.0, 1.0)},
    "--frobenius-bound": {"frobenius_bound": 1.0},
    "--element-range --adjacency local": {"element_range": (0.0, 1.0), "adjacency": "local"},
    "--structure histogram": {"structure": "histogram"},
    "--structure records --record-bound --l2-sensitivity": {
        "structure": "records", "record_bound": 1.0, "l2_sensitivity": 1.0,
    },
    "--structure gram --record-bound": {"structure": "gram", "record_bound": 1.0},
}  # fmt: skip


def accepted_queries(mechanism: type[Mechanism]) -> dict[str, str]:
    """By what a 4x4 query states: "yes", "with delta > 0", or why not.

    Its options have their defaults, epsilon is 0.5 and delta 0 or 1e-5.
    """
    return {words: _answer(mechanism, Query(shape=SHAPE, **kind)) for words, kind in KINDS.items()}


def _answer(mechanism: type[Mechanism], query: Query) -> str:
    approximate, pure = (_refusal(mechanism, query, budget) for budget in BUDGETS)
    if approximate is None:
        return "yes" if pure is None else "with delta > 0"
    return "yes" if pure is None else f"no: it {approximate}"


def _refusal(mechanism: type[Mechanism], query: Query, budget: Budget) -> str | None:
    """Why the mechanism does not serve this query, None where it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mechanism.calibrate_only(query, budget)
        except Unsupported as reason:
            return in_options(str(reason))
        except Exception as error:
            # The code is from elsewhere, or a package is not installed.
            return error_line(error)
    return None
