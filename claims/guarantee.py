"""The judge of claims of (epsilon, delta)-DP at the settings of the papers, shared by all papers.

It reads the rows of the study guarantee on its data set "papers", which paper_figures/suite draws.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from claims.comparisons import universal
from claims.judged_rows import calibrated, listed, pick, range_text, required
from claims.judges import CannotJudge, Count, judge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, Finding, Sizes
from mechanisms import Budget, Query, get_mechanism, verify
from mechanisms.base.claim import TOLERANCE
from mechanisms.catalogue.mgm import frobenius_bound, norm_bound
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.words import rounded_down, rounded_up
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED, UNDECIDED
from papers.setting import PaperSetting
from runs.results import Results
from studies.base.case import Point
from studies.guarantee import SETTINGS_AT, Guarantee

# Whether a claim is true at a setting, by the verdict on it there; None if that is unknown.
HOLDS_BY_VERDICT = {HOLDS: True, LOOSE: True, REFUTED: False, UNDECIDED: None}


def verified(rows: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """Return a row for each setting of a paper within the range of the mechanism's theorem.

    The columns are those of `by_setting`, and `setting` (a PaperSetting).

    Raises:
        CannotJudge: The results have no rows of the mechanism, or none within that range.
    """
    chosen = pick(rows, dataset="papers", mechanism=mechanism, calibration="published")
    table, theorem = by_setting(chosen).reset_index(), get_mechanism(mechanism)
    table["setting"] = list(map(setting_of, table["shape"], table["epsilon"], table["delta"]))
    inside = [theorem.limit(each.query, each.budget) is None for each in table["setting"]]
    missing = CannotJudge(f"No setting lies within the range of the theorem of {mechanism}")
    return required(table[inside], missing)


def setting_of(shape: str, epsilon: float, delta: float) -> PaperSetting:
    """Return the paper's setting at a grid point; its shape is a text such as "8x8"."""
    axes = tuple(int(axis) for axis in shape.split("x"))
    return SETTINGS_AT[Point(shape=axes, epsilon=epsilon, delta=delta)]


def by_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each mechanism and setting.

    The columns are the metrics of the study (NaN if not measured), `verdict` and `message`.
    """
    keys = ["mechanism", "shape", "epsilon", "delta"]
    words = rows[rows["metric"] == "claimed_delta"].set_index(keys)[["verdict", "message"]]
    values = rows.pivot(index=keys, columns="metric", values="value")
    return values.reindex(
        index=words.index, columns=[metric.name for metric in Guarantee.metrics]
    ).join(words)


@judge(studies=("guarantee",))
def guarantee(
    results: Results, *, mechanism: str, own: tuple[str, ...], lengths: tuple[Count, ...] = ()
) -> Finding:
    """Judge a claim of (epsilon, delta)-DP at every paper's setting within the theorem's range.

    A claim that is false at one setting is contradicted. A claim that holds with more noise than it
    needs is confirmed, and the sentence says by which factor of variance. For a mechanism in
    LARGEST_MU, the claim is about all noise that meets the theorem's condition, not only about the
    calibrated noise.

    Args:
        results: The rows of the study guarantee.
        mechanism: The key of the mechanism.
        own: The names of the paper's own settings; our numbers are those at the first.
        lengths: The lengths M of vectors for which the claim is also checked, at (0.9/M, 1e-5).

    Raises:
        CannotJudge: The results lack the mechanism or a setting of `own`.
    """
    table = verified(results.rows, mechanism)
    paper = [_row_of(table, setting) for setting in own]
    cases = table["verdict"].map(HOLDS_BY_VERDICT).tolist()
    detail = (
        f"Privacy profile of the worst pair at the {len(table)} settings of the papers within the "
        "range of the theorem."
    )
    if mechanism in LARGEST_MU:
        excess = max(_excess_of_condition(mechanism, setting) for setting in table["setting"])
        # The excess is an upper bound, so a value above 1 decides nothing.
        cases.append(True if excess <= 1 + TOLERANCE else None)
        detail += (
            " The calibrated noise is isotropic; any other that meets the condition has at "
            f"most {rounded_up(max(excess, 1e-300))} times the claimed delta at these settings."
        )
    by_size = {size: _holds_at(mechanism, size) for size in lengths}
    cases += by_size.values()
    part = universal("", cases)
    describe = {
        CONFIRMED: _describe_confirmed,
        CONTRADICTED: _describe_contradicted,
        INCONCLUSIVE: _describe_undecided,
    }[part.verdict]
    ours, because = describe(table, paper)
    if by_size:
        because += f" {_size_sentence(by_size)}"
    epsilons = sorted(setting.budget.epsilon for setting in table["setting"])
    return Finding(
        parts=(part,),
        ours=ours,
        because=because,
        detail=detail,
        calibration="published",
        sizes=Sizes(epsilons=range_text(f"{epsilons[0]:.3g}", f"{epsilons[-1]:.3g}")),
    )


# Each of these functions returns our numbers as text, and a sentence with the reason.
def _describe_confirmed(table: pd.DataFrame, paper: list[pd.Series]) -> tuple[str, str]:
    shown, wasted = paper[0], [_wasted_by_theorem(row) for row in paper]
    ours = (
        f"true at all {len(table)} settings; {shown['wasted_variance']:.3g} times the variance "
        f"that is needed at {_setting_text(shown)}"
    )
    if table["wasted_variance"].isna().any():
        return ours, "The guarantee holds by an upper bound on the privacy loss."
    if (table["verdict"] == HOLDS).all():
        return ours, "The guarantee holds, and the noise is the least that it needs."
    factor = range_text(rounded_down(min(wasted)), rounded_up(max(wasted)))
    needs = f"{factor} times the variance that it needs at the settings of its paper"
    return ours, f"The guarantee holds, with {needs}."


def _wasted_by_theorem(row: pd.Series) -> float:
    """Return the variance of the noise over the variance that the stated sensitivity needs.

    A Gram matrix changes by less than its stated l2 sensitivity; that factor does not count.
    """
    query = row["setting"].query
    if query.gram_change is None:
        return row["wasted_variance"]
    return row["wasted_variance"] * (query.gram_change / query.l2_sensitivity) ** 2


def _describe_contradicted(table: pd.DataFrame, paper: list[pd.Series]) -> tuple[str, str]:
    shown = paper[0]
    refuted = table[table["verdict"] == REFUTED]
    if refuted.empty:
        # The claim fails only at a length M of `lengths`, which the caller reports.
        return f"refuted at none of {len(table)} settings", (
            "No setting of the papers within the theorem's range refutes the guarantee."
        )
    claimed = refuted["setting"].map(lambda setting: setting.budget.delta)
    worst = refuted.loc[(refuted["true_delta"] / claimed).idxmax()]
    told = shown if shown["verdict"] == REFUTED else worst
    factor = told["true_delta"] / told["setting"].budget.delta
    ours = (
        f"true delta {told['true_delta']:.4g} at {_setting_text(told)}, {factor:.3g} times the "
        f"claim; false at {len(refuted)} of {len(table)} settings"
    )
    where = f"all {len(table)}" if len(refuted) == len(table) else f"{len(refuted)} of {len(table)}"
    because = (
        f"The guarantee is false at {where} settings of the papers within the theorem's range; "
        f"at {_setting_text(told)} the true delta is {told['true_delta']:.3g}."
    )
    if pd.notna(told["audit_delta_lower"]):
        ours += f"; sampled, at least {rounded_down(told['audit_delta_lower'])}"
    return ours, because


def _describe_undecided(table: pd.DataFrame, _paper: list[pd.Series]) -> tuple[str, str]:
    held = int(table["verdict"].isin((HOLDS, LOOSE)).sum())
    ours = f"proved at {held} of {len(table)} settings, refuted at none"
    return ours, "The bounds on the true delta do not decide every case within the theorem's range."


def _setting_text(row: pd.Series) -> str:
    query, budget = row["setting"].query, row["setting"].budget
    shape = "x".join(map(str, query.shape))
    return f"({budget.epsilon:.3g}, {budget.delta:.3g}) and {shape} elements"


def _row_of(table: pd.DataFrame, setting: str) -> pd.Series:
    named = required(
        table[[each.name == setting for each in table["setting"]]],
        CannotJudge(f"The results lack the setting {setting}"),
    )
    return named.iloc[0]


def _excess_of_condition(key: str, setting: PaperSetting) -> float:
    """Return a bound on true over claimed delta for all noise that meets the theorem's condition.

    It is the ratio at the mu of LARGEST_MU, which no noise of "mvg" need reach.
    """
    mu = LARGEST_MU[key](setting.query, setting.budget)
    return GaussianProfile(mu=mu).delta(setting.budget.epsilon).value / setting.budget.delta


def _holds_at(key: str, size: int) -> bool | None:
    """Return whether the claim holds for a vector of the length M = `size` at (0.9/M, 1e-5).

    The l2 sensitivity is 1. None means that the bounds on the privacy profile do not decide it.
    """
    query, budget = Query(shape=(size,), l2_sensitivity=1.0), Budget(epsilon=0.9 / size, delta=1e-5)
    return HOLDS_BY_VERDICT[verify(calibrated(key, query, budget), effort=None).verdict]


def _size_sentence(holds: dict[int, bool | None]) -> str:
    """Say in one sentence for which lengths of vectors the claim holds."""
    verbs = {True: "holds", False: "fails", None: "is undecided"}
    found = {
        verb: [str(size) for size, held in holds.items() if held is value]
        for value, verb in verbs.items()
    }
    parts = [f"{verb} for M = {listed(sizes)}" for verb, sizes in found.items() if sizes]
    return f"At (0.9/M, 1e-5) it {listed(parts)}."


def _mvg_largest_mu(query: Query, budget: Budget) -> float:
    # Every query has gamma >= s/2, and the square root makes zeta smaller. So no reading of Theorem
    # 3 allows a larger mu.
    least_bound = replace(query, frobenius_bound=query.l2_sensitivity / 2)
    return query.l2_sensitivity * math.sqrt(precision_bound(least_bound, budget, "sqrt"))


# Returns the supremum of mu over all noise that meets the theorem's condition. The spectral norm of
# U^-1 is at most its Frobenius norm, and tends to that as one direction takes all the precision.
def _mgm_largest_mu(query: Query, budget: Budget) -> float:
    return query.l2_sensitivity * math.sqrt(frobenius_bound(query, budget))


# The largest mu that each mechanism's theorem allows at a query and a budget; a bound for mvg.
LARGEST_MU: dict[str, Callable[[Query, Budget], float]] = {
    "mvg": _mvg_largest_mu,
    "mgm": _mgm_largest_mu,
    "udn": _mgm_largest_mu,
    "idn": lambda query, budget: norm_bound(query.size, budget),
}
