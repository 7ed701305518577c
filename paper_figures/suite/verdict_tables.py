"""Tabulate whether each mechanism's claim is true at the papers' settings.

`suite_verdicts` and `suite_summary` read the rows of the study guarantee on its data set "papers".
"""

import numpy as np
import pandas as pd

from claims.guarantee import by_setting, setting_of
from claims.judged_rows import required, select
from mechanisms.query.words import rounded_up
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED, UNDECIDED
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import private_rows
from paper_figures.style import class_of, legend_order
from runs.result_table import OK
from runs.results import Results

VERDICT_WORDS = (HOLDS, LOOSE, REFUTED, UNDECIDED)
EXACT, UPPER_BOUND, LOWER_BOUND = "exact", "upper bound", "lower bound"
# A delta counts as exact if its bounds differ by at most this share of the upper bound.
_NUMERICAL = 0.02
_UNDERFLOWN = (
    "If a claim is refuted and no true delta is given, the delta that refutes it is above 0 and "
    "below the smallest floating-point number."
)


@drawing("suite_verdicts", kind="tables", needs=["guarantee/papers"])
def verdicts(results: Results) -> Drawn:
    """Tabulate the claimed and true values and the verdict, per mechanism and paper's setting."""
    return Drawn(
        caption=(
            "Is the claim true? Every mechanism as published, at the settings of the papers: "
            "claimed and true delta at the claimed epsilon, true epsilon at the claimed delta, "
            "variance over the least variance at which the same noise keeps the claim, bounds of a "
            "sampled audit of the worst pair (family-wise confidence 99.9%), and the verdict."
        ),
        data=verdict_table(results.rows),
        note=(
            '"Profile" says what the true values are: exact, an upper bound, or a lower bound, '
            "which refutes a claim and proves none. An upper bound proves a claim; a smaller lower "
            "bound, which is not shown, may refute one. "
            '"Loose" means that more than 1% of the variance is wasted. A claim that holds by an '
            'upper bound is true, and may be loose. "In its range" '
            "says whether the theorem is stated for such a budget; the papers also use budgets "
            "beyond that range. The noise is calibrated to the sensitivity that a paper states, "
            "and the true values are for the change that neighbours can make, which is smaller in "
            "Experiment II of mvg2018. "
            '"Distance to no data" bounds the total variation between any release and noise around '
            "one fixed value: a score in [0, 1] of anything computed from the release gains at "
            "most that much from the data. It is empty if the mechanism does more than add noise, "
            f"the noise is one-sided, or the paper states no range of the answers. {_UNDERFLOWN}"
        ),
    )


def verdict_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of suite_verdicts, in the order of legends.

    Raises:
        DrawingError: The results hold no verdict.
    """
    rows = required(
        private_rows(select(rows, dataset="papers", status=OK, calibration="published")),
        DrawingError("the results hold no verdict at the papers' settings"),
    )
    records = []
    # The study stores no row for a true epsilon that is infinite.
    table = by_setting(rows).fillna({"true_epsilon": np.inf})
    for (mechanism, shape, epsilon, delta), values in table.iterrows():
        setting = setting_of(shape, epsilon, delta)
        known, far = class_of(mechanism), values["distance_to_no_data"]
        # A refuted claim has a true delta above 0; a stored 0 is below the smallest float.
        underflown = values["verdict"] == REFUTED and values["true_delta"] == 0
        records.append(
            {
                "mechanism": mechanism,
                "theorem": known.theorem if known else "",
                "setting": setting.name,
                # A message is the warning that the budget is outside the theorem's range.
                "in its range": "no" if values["message"] else "yes",
                "adjacency": setting.query.adjacency,
                "claimed epsilon": epsilon,
                "claimed delta": values["claimed_delta"],
                "true delta": np.nan if underflown else values["true_delta"],
                "true epsilon": values["true_epsilon"],
                "profile": _profile(values),
                "variance over need": values["wasted_variance"],
                "distance to no data": far if np.isnan(far) else float(rounded_up(far, 3)),
                "sampled delta, at least": values["audit_delta_lower"],
                "sampled delta, at most": values["audit_delta_upper"],
                "verdict": values["verdict"],
            }
        )
    table = pd.DataFrame(records)
    place = legend_order(table["mechanism"]).index
    return table.sort_values("mechanism", key=lambda names: names.map(place), kind="stable")


@drawing("suite_summary", kind="tables", needs=["guarantee/papers"])
def summary(results: Results) -> Drawn:
    """Tabulate each mechanism's verdicts over the papers' settings, and the worst setting.

    The worst setting has the largest ratio of true to claimed epsilon among the refuted settings
    with a true delta. If there are none, it is chosen among all settings.
    """
    table = verdict_table(results.rows)
    records = []
    for mechanism, group in table.groupby("mechanism", sort=False):
        printed = group[(group["verdict"] == REFUTED) & group["true delta"].notna()]
        shown = printed if len(printed) else group
        worst = group.loc[shown["true epsilon"].div(shown["claimed epsilon"]).idxmax()]
        verdicts = list(group["verdict"])
        in_range = list(group.loc[group["in its range"] == "yes", "verdict"])
        records.append(
            {
                "mechanism": mechanism,
                "theorem": worst["theorem"],
                **{word: verdicts.count(word) for word in VERDICT_WORDS},
                "profile is a bound": int((group["profile"] != EXACT).sum()),
                "refuted in its range": in_range.count(REFUTED),
                "settings in its range": len(in_range),
                "worst setting": worst["setting"],
                "claimed (epsilon, delta)": (
                    f"({worst['claimed epsilon']:g}, {worst['claimed delta']:.3g})"
                ),
                "true delta there": worst["true delta"],
                "true epsilon there": worst["true epsilon"],
                "profile there": worst["profile"],
                "least variance over need": group["variance over need"].min(),
                "largest variance over need": group["variance over need"].max(),
            }
        )
    return Drawn(
        caption=(
            f"Is the claim true? Every mechanism as published, at {table['setting'].nunique()} "
            "settings of the papers: the number of settings by verdict, those within the range of "
            "the theorem, the setting where the true epsilon exceeds the claimed one most, and the "
            "variance over the least variance at which the same noise keeps the claim (below 1: "
            "too little noise)."
        ),
        data=pd.DataFrame(records),
        note=(
            "Where the profile is an upper bound the true values are at most those given, and a "
            "claim that holds may be loose; where it is a lower bound they are at least those "
            "given. The papers also use budgets beyond the range for which a theorem is stated. "
            f"{_UNDERFLOWN}"
        ),
    )


def _profile(values: pd.Series) -> str:
    """Return whether the true values of a setting are exact, upper bounds or lower bounds.

    They are exact if the bounds on delta agree and either the claim is refuted or the variance that
    it needs is known. The bounds alone do not suffice: the delta of a pure claim that holds is
    0, but its true epsilon may only be bounded.
    """
    lower, value, upper = (
        values[name] for name in ("true_delta_lower", "true_delta", "true_delta_upper")
    )
    known = values["verdict"] == REFUTED or pd.notna(values["wasted_variance"])
    if known and upper - lower <= _NUMERICAL * upper:
        return EXACT
    return LOWER_BOUND if value == lower and value < upper else UPPER_BOUND
