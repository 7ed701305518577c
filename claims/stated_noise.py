"""Judges of claims about noise for queries that the claims themselves state.

They read no study: noise, privacy profile and sampled audit follow from the claim's arguments.
"""

import itertools
import math
from dataclasses import replace
from typing import Any, Literal

from claims.comparisons import OPPOSE, every, number, some, statement, universal
from claims.guarantee import HOLDS_BY_VERDICT
from claims.judged_rows import calibrated, listed, range_text
from claims.judges import CannotJudge, Delta, Epsilon, Positive, Shape, judge
from claims.mechanism_titles import mechanism_title
from claims.paper import Record
from claims.verdicts import CALIBRATION_TITLES, Finding
from mechanisms import AdditiveMechanism, Budget, Mechanism, Query, Unsupported, verify
from mechanisms.base.mechanism import Calibration
from mechanisms.check.checks import QUICK
from mechanisms.limit.limit import limit
from mechanisms.query.box_query import box_query
from mechanisms.query.words import rounded_down, rounded_up
from mechanisms.verification.verification import REFUTED, VARIANCE_TOLERANCE


class StatedQuery(Record):
    """A query of a claim: the fields of `Query` or, in their place, a shape and a box.

    Args:
        box: The range of every element. All elements may change at once, each within the range.
    """

    shape: Shape
    l2_sensitivity: Positive | None = None
    l1_sensitivity: Positive | None = None
    element_range: tuple[float, float] | None = None
    adjacency: str = "add-remove"
    box: tuple[float, float] | None = None

    def query(self) -> Query:
        """Build the query."""
        if self.box is not None:
            return box_query(self.shape, *self.box)
        return Query(**self.model_dump(exclude={"box"}))


class Setting(Record):
    """A query and a budget of a claim.

    Args:
        query: The query.
        epsilon, delta: The budget; without delta, it is that of pure privacy.
        options: The options of the mechanism.
        stated: The number that the paper or its code states for this setting, a delta or a ratio.
        name: The setting in words, if its numbers do not say enough.
    """

    query: StatedQuery
    epsilon: Epsilon
    delta: Delta | None = None
    options: dict[str, Any] = {}
    stated: Positive | None = None
    name: str = ""

    def __str__(self) -> str:
        """Format as "M = 784, epsilon 0.1"."""
        if self.name:
            return self.name
        words = [f"M = {math.prod(self.query.shape):,}"]
        words += (f"{name} = {value}" for name, value in self.options.items())
        words.append(f"epsilon {self.epsilon:g}")
        if self.delta is not None:
            words.append(f"delta {self.delta:g}")
        return ", ".join(words)

    def mechanism(self, key: str, calibration: str = "published") -> Mechanism:
        """Calibrate a mechanism at this setting."""
        budget = Budget(epsilon=self.epsilon, delta=self.delta or 0.0)
        return calibrated(key, self.query.query(), budget, calibration, **self.options)

    def loss(self, key: str, calibration: str) -> float:
        """Return E||noise||^2 of a mechanism at this setting.

        Raises:
            CannotJudge: The mechanism does not support the setting, or adds no noise.
        """
        try:
            mechanism = self.mechanism(key, calibration)
        except Unsupported as reason:
            raise CannotJudge(f"{key} {reason}") from reason
        if not isinstance(mechanism, AdditiveMechanism):
            raise CannotJudge(f"{key} adds no noise")
        return mechanism.expected_loss()


@judge
def stated_guarantee(*, mechanism: str, settings: list[Setting], samples: int = 0) -> Finding:
    """Judge whether a mechanism is as private as it claims at every setting.

    Args:
        mechanism: The key of the mechanism.
        settings: The settings; `stated` is the delta that the paper or its code gives there.
        samples: The number of draws of a sampled audit, whose result is added to our numbers; by
            default there is no audit.
    """
    cases, shown, agreed, gaps, broken = [], [], [], [], []
    for setting in settings:
        at_setting = setting.mechanism(mechanism)
        result = verify(
            at_setting,
            samples=samples,
            confidence=OPPOSE,
            seed=len(cases),
            # A quick check is enough: studies also compare the releases with the stated noise.
            effort=QUICK,
        )
        cases.append(HOLDS_BY_VERDICT[result.verdict])
        words = f"{setting}: claimed delta {result.claimed_delta:.4g}, "
        if result.verdict == REFUTED:
            words += f"true {result.true_delta.value:.4g}"
            if result.audit is not None:
                words += f", sampled at least {rounded_down(result.audit.delta_lower)}"
                agreed.append(result.audit.refutes(result.claimed_delta))
        elif result.slack:
            words += f"true at most {rounded_up(result.true_delta.upper)}"
        else:
            words += f"true {result.true_delta.value:.4g}"
            wasted = result.wasted_variance
            if wasted is not None and wasted > 1 + VARIANCE_TOLERANCE:
                words += f" ({wasted:.4g} times the variance needed)"
        shown.append(words)
        broken.append(result.limit_broken)
        if setting.stated is not None:
            gaps.append(abs(result.claimed_delta / setting.stated - 1))
    detail = f"By the mechanism's privacy profile, or bounds on it; {'; '.join(shown)}."
    if agreed:
        detail += (
            f" A sampled audit ({samples:,} draws, {OPPOSE:.2%} confidence) refutes the "
            f"claim at {'all' if all(agreed) else f'{sum(agreed)} of'} {len(agreed)} settings."
        )
    detail += _limit_sentence(broken)
    if gaps:
        detail += (
            f" At {len(gaps)} of {len(cases)} settings the source states a delta; ours agrees with "
            f"it to {rounded_up(max(gaps), 2)} (relative)."
        )
    return Finding(
        parts=(universal("", cases),),
        ours=f"true at {cases.count(True)} of {len(cases)} settings; {shown[0]}",
        detail=detail,
        calibration="published",
    )


def _limit_broken(mechanism: AdditiveMechanism) -> tuple[float, float] | None:
    """Return `Verification.limit_broken` for a mechanism that need not have a privacy profile."""
    least = limit(mechanism.query, mechanism.budget, fast=True).rmse
    stated = math.sqrt(mechanism.expected_loss() / mechanism.query.size)
    return None if least is None or stated >= least else (stated, least)


def _limit_sentence(broken: list[tuple[float, float] | None]) -> str:
    """Describe the settings at which the noise is less than any private mechanism can have.

    Args:
        broken: `limit_broken` at each setting.
    """
    shares = [found[0] / found[1] for found in broken if found]
    if not shares:
        return ""
    factor = range_text(f"{min(shares):.3g}", f"{max(shares):.3g}")
    return (
        f" At {len(shares)} of {len(broken)} settings the published noise is beyond the limit "
        f"(docs/the_limit.md): it has {factor} times the least root mean square error "
        "that any mechanism of that guarantee can have."
    )


@judge
def smaller_noise(
    *,
    mechanisms: list[str],
    others: list[str],
    settings: list[Setting],
    calibrations: tuple[Calibration, ...] = ("published", "exact"),
    settings_needed: Literal["every", "some"] = "every",
    tolerance: float = 0.0,
) -> Finding:
    """Judge whether mechanisms' noise has a smaller expected squared norm than that of others.

    Args:
        mechanisms: The keys of the mechanisms.
        others: The keys of the others; at each setting, the least of them counts.
        settings: The settings.
        calibrations: The calibrations to compare; each gives a part for each mechanism.
        settings_needed: Whether the norm must be smaller at every setting or at some setting.
        tolerance: A norm that is smaller by at most this share does not count as smaller.

    Raises:
        CannotJudge: A mechanism does not support a setting, or adds no noise.
    """
    combined = {"every": every, "some": some}[settings_needed]
    parts = []
    for calibration, mechanism in itertools.product(calibrations, mechanisms):
        each = []
        for setting in settings:
            own, *their = (setting.loss(key, calibration) for key in (mechanism, *others))
            ratio = own / min(their)
            each.append(statement(str(setting), ratio < 1 - tolerance, f"{ratio:.3g} times"))
        shown = "; ".join(f"{part.name}: {part.found}" for part in each)
        titles = listed(map(mechanism_title, others))
        name = f"{mechanism_title(mechanism)} below {titles} {CALIBRATION_TITLES[calibration]}"
        parts.append(replace(combined(name, each), found=shown))
    detail = ["Ratios of E||noise||^2" + (" to the least of theirs" if len(others) > 1 else "")]
    broken = []
    if "published" in calibrations:
        detail.append("As published each has the noise of its claim")
        broken = [
            _limit_broken(setting.mechanism(key)) for setting in settings for key in mechanisms
        ]
    if "exact" in calibrations:
        detail.append("At equal true privacy each is rescaled to the budget's delta")
    return Finding(
        parts=parts,
        detail=f"{'. '.join(detail)}.{_limit_sentence(broken)}",
        calibration="both" if len(calibrations) > 1 else calibrations[0],
    )


@judge
def variance_ratio(
    *,
    mechanism: str,
    other: str,
    settings: list[Setting],
    detail: str,
    tolerance: float,
) -> Finding:
    """Judge the stated ratio of the expected squared norms of two mechanisms' noise.

    Args:
        mechanism: The mechanism of the numerator.
        other: The mechanism of the denominator.
        settings: The settings, each with its `stated` ratio.
        detail: A description of the computation.
        tolerance: The relative tolerance.
    """
    parts = [
        number(
            str(setting),
            setting.loss(mechanism, "published") / setting.loss(other, "published"),
            setting.stated,
            tolerance,
        )
        for setting in settings
    ]
    return Finding(parts=parts, detail=detail, calibration="published")
