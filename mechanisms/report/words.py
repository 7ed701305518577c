"""The findings of a report in sentences; the page and the command line print the same ones."""

from collections import Counter

from mechanisms.comparison.assessment import JOINT
from mechanisms.query.words import rounded_down, rounded_up
from mechanisms.report.report import Report
from mechanisms.report.subject import MECHANISM
from mechanisms.report.truth import FAILED, UNSUPPORTED
from mechanisms.verification.verification import (
    HOLDS,
    INCONSISTENT,
    LOOSE,
    REFUTED,
    UNDECIDED,
)

MEANING = {
    HOLDS: "the claim is true",
    LOOSE: "the claim is true, and less noise would do",
    REFUTED: "the claim is false",
    UNDECIDED: "neither proved nor refuted here",
    INCONSISTENT: "its releases contradict what it states of them, so the claim is not judged",
    UNSUPPORTED: "it does not serve this query or budget",
    FAILED: "there is no answer",
}
_SURE = (
    "Samples can refute a claim, not prove it. The probability of a wrong refutation is at most "
    "0.1% in this whole report."
)


def summary(report: Report) -> list[str]:
    """What was found, in sentences."""
    verdicts = Counter(cell["verdict"] for cell in report.cells.values())
    cells = len(report.cells)
    sentences = [
        f"{verdict} at {count} of {cells} settings: {MEANING[verdict]}."
        for verdict, count in verdicts.most_common()
    ]
    # The grid is that of one family: a claim may fall on another.
    sentences += [
        f"{REFUTED} for {words}, M = 64."
        for words, cell in report.families.items()
        if cell["verdict"] == REFUTED and words != report.query
    ]
    sentences += [
        *_delta(report),
        *_worst(report),
        *_own_profile(report),
        *_checked(report),
        *_limit(report),
    ]
    for words, found in report.comparisons.items():
        if "conclusion" in found:
            sentences.append(f"{words[0].upper()}{words[1:]}: {found['conclusion']} {_own(found)}")
    return sentences


def _own(found: dict) -> str:
    """Where the mechanism itself stands in a comparison."""
    rows = [row for row in found["rows"] if row["own"]]
    ranked = [row for row in rows if row["rank"] is not None]
    if ranked:
        (row,) = ranked
        how = "rescaled to equal true privacy" if row["calibration"] == "exact" else "as published"
        times = f"{row['times_best']:.4g}"
        error = "the least error too" if times == "1" else f"{times} times the least error"
        return f"This one, {how}, has {error}."
    return (
        "This one is not ranked: it "
        + (JOINT.join(found["notes"]) or "has a claim that is not proved")
        + "."
    )


def _delta(report: Report) -> list[str]:
    """The delta of the claim, and that of the comparison where it is another one."""
    if not report.count(HOLDS, LOOSE, REFUTED, UNDECIDED):
        return []
    words = f"The claim has delta {claimed(report):g}"
    if claimed(report) == report.delta:
        return [f"{words}."]
    return [
        f"{words} and is judged there; errors are compared at the delta of the budget, "
        f"{report.delta:g}."
    ]


def _worst(report: Report) -> list[str]:
    """The refutation that is furthest from its claim."""
    refuted = {place: cell for place, cell in report.cells.items() if cell["verdict"] == REFUTED}
    if not refuted:
        return []
    (epsilon, size), cell = max(
        refuted.items(), key=lambda item: lower_epsilon(item[1]) / item[0][0]
    )
    size_words = f"M = {size:,}" if size > 1 else "one number"
    how = " by an audit of releases" if cell["source"] == "samples" else ""
    return [
        f"Worst, {size_words}: ({epsilon:g}, {claimed(report):g})-privacy is claimed, and "
        f"the true epsilon is at least {rounded_down(lower_epsilon(cell), 4)} at that delta{how}."
    ]


def lower_epsilon(cell: dict) -> float:
    """A lower bound of the true epsilon of a refuted cell."""
    if cell.get("source") == "samples":
        return cell["audit"]["epsilon_lower"]
    return cell["true_epsilon"][0]


def claimed(report: Report) -> float:
    """The delta of the claim, alike at all settings: a pure claim has 0, whatever the budget's."""
    known = (cell["delta"] for cell in report.cells.values() if "delta" in cell)
    return next(known, report.delta)


def _own_profile(report: Report) -> list[str]:
    if not any(cell.get("source") == "own profile" for cell in report.cells.values()):
        return []
    return [
        "True privacy is here what the file itself states as its profile. The releases agree with "
        "it. This does not prove it: a small error would not show."
    ]


def _checked(report: Report) -> list[str]:
    releases = [cell["releases"] for cell in report.cells.values() if cell.get("releases")]
    if not releases:
        return []
    return [
        f"Checked against itself: {sum(releases):,} releases at {len(releases)} settings agree "
        "with the noise and the privacy that it states."
    ]


def _limit(report: Report) -> list[str]:
    broken = sum("limit" in cell for cell in report.cells.values())
    if not broken:
        return []
    return [
        f"At {broken} setting{'s' * (broken > 1)} its stated error is below the limit of every "
        "mechanism with that claim (docs/the_limit.md)."
    ]


def certificate(report: Report) -> str:
    """Whether there is a certificate that anybody can check."""
    if not report.count(REFUTED):
        return "None is needed: nothing is refuted."
    if report.about["kind"] == MECHANISM and ":" not in report.subject.name:
        return (
            f"results/reference/certificates/guarantee-{report.about['key']}.json, where there is "
            "one: docs/certificates.md says how to check it."
        )
    return (
        "None. check_certificate.py knows the formulas of the suite's papers, and this noise is "
        "none of them. The command below repeats what refutes the claim."
    )


def undecided(report: Report) -> list[str]:
    """Why cells have no verdict: each reason with where it applies."""
    reasons: dict[str, list[str]] = {}
    for (epsilon, size), cell in report.cells.items():
        if cell["verdict"] in (UNDECIDED, INCONSISTENT, UNSUPPORTED, FAILED):
            words = f"{cell['verdict']}: {cell.get('why', '')}"
            reasons.setdefault(words, []).append(f"epsilon {epsilon:g}, M = {size}")
    return [
        f"{words} ({places[0]}{f', and {len(places) - 1} more' if len(places) > 1 else ''})"
        for words, places in reasons.items()
    ]


def cell_words(cell: dict) -> str:
    """The truth of one cell: its true epsilon, or what bounds it."""
    if cell["verdict"] == REFUTED and cell.get("source") == "samples":
        return f"true epsilon at least {rounded_down(cell['audit']['epsilon_lower'], 3)}"
    if "true_epsilon" not in cell:
        return ""
    low, high = cell["true_epsilon"]
    delta = cell["true_delta"]
    if f"{low:.3g}" == f"{high:.3g}":
        if cell["verdict"] == REFUTED:
            return f"true epsilon {low:.3g}, delta at least {rounded_down(delta[0], 2)}"
        if cell["verdict"] == HOLDS:
            return f"true epsilon {low:.3g} at the claimed delta"
        return f"true epsilon {low:.3g}, delta at most {rounded_up(delta[1], 2)}"
    if cell["verdict"] == REFUTED:
        return f"true epsilon at least {rounded_down(low, 3)}"
    return f"true epsilon at most {rounded_up(high, 3)}"


def sureness() -> str:
    """What a verdict of samples is worth."""
    return _SURE
