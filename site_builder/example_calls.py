"""How to call a mechanism: the simplest query of a few that it supports."""

import itertools
import warnings
from dataclasses import dataclass, fields

from mechanisms import Budget, Mechanism, OutOfRangeWarning, Query, Unsupported
from site_builder.profile_grid import NOT_COMPUTED

BUDGET = Budget(epsilon=0.5, delta=1e-5)
PUBLISHED = "published"
# Queries, those that state least first.
_STATED = (
    {"shape": (8, 8), "l2_sensitivity": 1.0},
    {"shape": (8, 8), "l2_sensitivity": 1.0, "l1_sensitivity": 1.0},
    {"shape": (8, 8), "l2_sensitivity": 1.0, "frobenius_bound": 10.0},
    {"shape": (8, 8), "l2_sensitivity": 8.0, "element_range": (0.0, 1.0)},
    {"shape": (8, 8), "l2_sensitivity": 1.0, "structure": "gram", "record_bound": 1.0},
    {"shape": (8, 8), "l2_sensitivity": 8.0, "element_range": (0.0, 1.0), "adjacency": "local"},
    {"shape": (8, 8), "l2_sensitivity": 2.0, "linf_sensitivity": 1.0, "structure": "counts"},
    {"shape": (8, 8), "l2_sensitivity": 1.0, "structure": "records", "record_bound": 1.0},
    {"shape": (4, 4, 4), "l2_sensitivity": 1.0},
)


@dataclass(frozen=True)
class ExampleCall:
    """A call that works.

    Args:
        query: Arguments of the query, in Python.
        command: The same as options of the command line, with the budget.
        calibration: "published", or "exact" where there is no other.
        can_verify: Whether `verify` can compare the claim with an exact profile.
        mechanism: What the call makes; None where that takes too long.
        outside: Why it lies outside the range of the mechanism's theorem; "" where it does not.
    """

    query: str
    command: str
    calibration: str
    can_verify: bool
    mechanism: Mechanism | None
    outside: str = ""

    @property
    def has_exact(self) -> bool:
        """Whether the mechanism can be rescaled until it has the privacy of the budget."""
        if self.mechanism is None:
            return False
        try:
            self.mechanism.calibrate(self.mechanism.query, BUDGET, "exact")
        except Unsupported:
            return False
        return True


def example_call(cls: type[Mechanism]) -> ExampleCall | None:
    """The first of the queries that the mechanism supports, None if it supports none of them.

    As published, or exactly calibrated where it supports none as published.
    """
    if cls.key in NOT_COMPUTED:
        return ExampleCall(_python(_STATED[0]), _command(_STATED[0]), PUBLISHED, True, None)
    for calibration, stated in itertools.product((PUBLISHED, "exact"), _STATED):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OutOfRangeWarning)
                mechanism = cls.calibrate(Query(**stated), BUDGET, calibration)
        except Unsupported:
            continue
        known = cls.guarantee != "none" and mechanism.profile() is not None
        command = _command(stated)
        if calibration != PUBLISHED:
            command += f" --calibration {calibration}"
        outside = cls.limit(mechanism.query, BUDGET) or ""
        return ExampleCall(_python(stated), command, calibration, known, mechanism, outside)
    return None


def verify_command(mechanism: str, query: Query, budget: Budget) -> str:
    """The command that verifies the published claim for a query."""
    given = {each.name: (getattr(query, each.name), each.default) for each in fields(query)}
    stated = {name: value for name, (value, usual) in given.items() if value not in (None, usual)}
    return f"python -m mechanisms verify {mechanism} {_command(stated, budget)}"


def _python(stated: dict) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in stated.items())


def _command(stated: dict, budget: Budget = BUDGET) -> str:
    words = []
    for name, value in stated.items():
        ends = value if isinstance(value, tuple) else (value,)
        shown = ("x" if name == "shape" else ",").join(str(end).removesuffix(".0") for end in ends)
        words += [f"--{name.replace('_', '-')}", shown]
    return " ".join([*words, f"--epsilon {budget.epsilon} --delta {budget.delta}"])
