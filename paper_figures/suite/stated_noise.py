"""Judges of claims about one noise on queries that the claim itself states.

No study is read: noise, privacy profile and sampled audit follow from the claim's arguments. A
query has the fields of `Query`, or one of these in their place: "counts", the most that one record
adds to; "votes"; "powers", x of sensitivities i^-x.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from claims.judged_rows import calibrated, listed, rounded_down, rounded_up
from claims.ledger import CannotJudge, Claim, judge
from claims.rules import number, some, statement, universal
from claims.verdicts import Finding, Part
from mechanisms import AdditiveMechanism, Budget, Mechanism, Query, Unsupported, verify
from mechanisms.verification.self_check import QUICK
from mechanisms.verification.verification import REFUTED, VARIANCE_TOLERANCE
from paper_figures.suite.guarantee import HOLDS_BY_VERDICT
from runs.results import Results

CONFIDENCE = 0.999


def query_of(stated: dict[str, Any]) -> Query:
    """The query that a claim states; see the module."""
    fields = dict(stated)
    shape = tuple(fields.pop("shape"))
    size = math.prod(shape)
    if "counts" in fields:
        most = fields.pop("counts")
        fields |= {"structure": "counts", "linf_sensitivity": 1.0, "l2_sensitivity": most**0.5}
    if fields.pop("votes", False):
        points = np.arange(size)
        norm = float(np.linalg.norm(points))
        fields |= {"structure": "votes", "linf_sensitivity": size - 1.0, "l2_sensitivity": norm}
    if "powers" in fields:
        changes = sensitivities(size, fields.pop("powers"))
        fields |= {
            "l2_sensitivity": float(np.linalg.norm(changes)),
            "l1_sensitivity": float(changes.sum()),
            "linf_sensitivity": float(changes.max()),
        }
    return Query(shape=shape, **fields)


def sensitivities(size: int, power: float) -> np.ndarray:
    """lambda_i = i^-power, i = 1..size."""
    return np.arange(1, size + 1.0) ** -power


def mechanism_at(key: str, setting: dict[str, Any], calibration: str = "published") -> Mechanism:
    """A mechanism at a setting of a claim: `query`, `epsilon`, `delta`, `options`."""
    query = query_of(setting["query"])
    budget = Budget(epsilon=setting["epsilon"], delta=setting.get("delta", 0.0))
    options = dict(setting.get("options", {}))
    if key in ("inid-gaussian", "inid-laplace"):
        options["sensitivities"] = sensitivities(query.size, setting["query"]["powers"])
    return calibrated(key, query, budget, calibration, **options)


def setting_words(setting: dict[str, Any]) -> str:
    """A setting in words: "M = 784, epsilon 0.1"."""
    query = setting["query"]
    size = math.prod(query["shape"])
    words = [f"M = {size:,}"]
    if query.get("counts", size) != size:
        words.append(f"at most {query['counts']} change")
    if query.get("votes"):
        words.append("votes")
    if "structure" in query:
        words.append(f"{query['structure']} matrix")
    if "powers" in query:
        words.append(f"sensitivities i^-{query['powers']:g}")
    words += (f"{name} = {_plain(value)}" for name, value in setting.get("options", {}).items())
    words.append(f"epsilon {setting['epsilon']:g}")
    if "delta" in setting:
        words.append(f"delta {setting['delta']:g}")
    return ", ".join(words)


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


@judge()
def stated_guarantee(claim: Claim, results: Results) -> Finding:
    """Whether a mechanism is as private as it claims at every stated setting, with an audit.

    Arguments: mechanism; settings, each with `query`, `epsilon`, maybe `delta` and `options`, and
    maybe `stated`, the delta that the paper or its code gives there; samples of the audit, if any.
    """
    a = claim.arguments
    cases, shown, agreed, gaps = [], [], [], []
    for setting in a["settings"]:
        mechanism = mechanism_at(a["mechanism"], setting)
        result = verify(
            mechanism,
            samples=a.get("samples", 0),
            confidence=CONFIDENCE,
            seed=len(cases),
            # The studies compare its releases with what it states as well.
            effort=QUICK,
        )
        cases.append(HOLDS_BY_VERDICT[result.verdict])
        words = f"{setting_words(setting)}: claimed delta {result.claimed_delta:.4g}, "
        if result.verdict == REFUTED:
            words += f"true {result.true_delta.value:.4g}"
            if result.audit is not None:
                words += f", sampled at least {rounded_down(result.audit.delta_lower)}"
                agreed.append(result.audit.refutes(result.claimed_delta))
        elif mechanism.slack():
            words += f"true at most {rounded_up(result.true_delta.upper)}"
        else:
            words += f"true {result.true_delta.value:.4g}"
            wasted = result.wasted_variance
            if wasted is not None and wasted > 1 + VARIANCE_TOLERANCE:
                words += f" ({wasted:.4g} times the variance needed)"
        shown.append(words)
        if "stated" in setting:
            gaps.append(abs(result.claimed_delta / setting["stated"] - 1))
    detail = f"By the mechanism's privacy profile, or bounds on it; {'; '.join(shown)}."
    if agreed:
        detail += (
            f" A sampled audit ({a['samples']:,} draws, {CONFIDENCE:.1%} confidence) refutes the "
            f"claim at {'all' if all(agreed) else f'{sum(agreed)} of'} {len(agreed)} settings."
        )
    if gaps:
        detail += (
            f" At {len(gaps)} of {len(cases)} settings the source states a delta; ours agrees with "
            f"it to {rounded_up(max(gaps), 2)} (relative)."
        )
    held = sum(case is True for case in cases)
    return Finding(
        parts=(universal("", cases),),
        ours=f"true at {held} of {len(cases)} settings; {shown[0]}",
        detail=detail,
        calibration="published",
    )


@judge()
def smaller_noise(claim: Claim, results: Results) -> Finding:
    """Whether the noise of a mechanism has a smaller expected squared norm than that of others.

    Arguments: mechanism; others, each compared as published and at equal true privacy or, with
    `calibrations`, at those named; together, whether one setting has to beat all others at once;
    settings; settings_needed, "every" (default) or "some". The claim's tolerance, if any, is what
    is too small a lead to count.
    """
    a = claim.arguments
    calibrations = a.get("calibrations", ("published", "exact"))
    rivals = [tuple(a["others"])] if a.get("together") else [(other,) for other in a["others"]]
    most = 1 - (claim.tolerance or 0)
    parts = []
    for others in rivals:
        for calibration in calibrations:
            ratios = {}
            for setting in a["settings"]:
                own, *their = (
                    _loss(key, setting, calibration) for key in (a["mechanism"], *others)
                )
                ratios[setting_words(setting)] = own / min(their)
            where = "as published" if calibration == "published" else "at equal true privacy"
            each = [
                statement(name, ratio < most, f"{ratio:.3g} times")
                for name, ratio in ratios.items()
            ]
            name = f"below {listed(others)} {where}"
            found = "; ".join(f"{part.name}: {part.found}" for part in each)
            if a.get("settings_needed", "every") == "some":
                parts.append(replace(some(name, each), found=found))
            else:
                parts.append(universal(name, [ratio < most for ratio in ratios.values()], found))
    detail = ["Ratios of E||noise||^2" + (" to the least of theirs" if a.get("together") else "")]
    if "published" in calibrations:
        detail.append("As published each has the noise of its claim")
    if "exact" in calibrations:
        detail.append("At equal true privacy each is rescaled to the budget's delta")
    return Finding(
        parts=parts,
        detail=f"{'. '.join(detail)}.",
        calibration="both" if len(calibrations) > 1 else calibrations[0],
    )


@judge()
def variance_ratio(claim: Claim, results: Results) -> Finding:
    """The variance of a noise over that of another, against the stated ratio at every setting.

    Arguments: mechanism; other; settings, each with `stated`, the ratio; calibration, optional.
    """
    a = claim.arguments
    calibration = a.get("calibration", "published")
    parts: list[Part] = []
    for setting in a["settings"]:
        own, their = (_loss(key, setting, calibration) for key in (a["mechanism"], a["other"]))
        parts.append(
            number(setting_words(setting), own / their, setting["stated"], claim.tolerance)
        )
    return Finding(
        parts=parts,
        detail=f"Ratio of E||noise||^2 to that of {a['other']} at the same budget.",
        calibration=calibration,
    )


def _loss(key: str, setting: dict[str, Any], calibration: str) -> float:
    try:
        mechanism = mechanism_at(key, setting, calibration)
    except Unsupported as reason:
        raise CannotJudge(f"{key} {reason}") from reason
    if not isinstance(mechanism, AdditiveMechanism):
        raise CannotJudge(f"{key} adds no noise")
    return mechanism.expected_loss()
