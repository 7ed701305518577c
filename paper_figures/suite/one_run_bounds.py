"""What one training shows of its own privacy: the one-run audits of the study dpsgd.

`suite_one_run` reads the rows of the data sets that were trained with canaries.
"""

import math

import pandas as pd

from claims.judged_rows import required
from datasets.titles import dataset_title
from mechanisms.query.words import rounded_up
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import SOURCE_WORDS, ok_rows, size_of
from paper_figures.style import CALIBRATION_TITLES, PAGE, in_order, look, title_in
from runs.results import Results

FOUND, ACCOUNTED = "one_run_epsilon_lower", "true_epsilon_upper"
# Of each training: from these counts anybody can derive its bound.
COUNTS = ("one_run_canaries", "one_run_guesses", "one_run_correct")
# The titles of these need no calibration: the control has none, DP-SGD's noise a title for each.
CONTROL, DPSGD = "non-private", "gaussian"
STUDY = "dpsgd"


@drawing("suite_one_run", kind="figures", needs=[STUDY])
def one_run(results: Results) -> Drawn:
    """Lower bounds on epsilon from single trainings beside the claimed and the accounted one."""
    found = required(
        ok_rows(results.rows, STUDY, FOUND),
        DrawingError("the results hold no one-run audit; dpsgd needs canaries for it"),
    )
    dataset = found["dataset"].iloc[0]
    found = found[found["dataset"] == dataset]
    keys = ["mechanism", "calibration", "epsilon", "delta"]
    table = found[[*keys, "learning_rate", "trial", "value"]].rename(columns={"value": FOUND})
    for metric, per in ((ACCOUNTED, keys), *((count, [*keys, "trial"]) for count in COUNTS)):
        column = ok_rows(results.rows, STUDY, metric, dataset)[[*per, "value"]]
        table = table.merge(column.rename(columns={"value": metric}), on=per, how="left")
    trials = table["trial"].nunique()
    caption = (
        f"DP-SGD on {dataset_title(dataset)} ({SOURCE_WORDS[found['data_source'].iloc[0]]}), "
        f"{size_of(found['shape'].iloc[0]):,} parameters, one record added or removed, delta "
        f"{found['delta'].iloc[0]:g}. Points: lower bounds on epsilon from {trials} trainings "
        "with canaries, each right with a probability of 95%. A point in the shaded region "
        "contradicts the claimed epsilon (solid line). Bars: the accountant's upper bound, in "
        "numbers where it is beyond the axis."
    )
    note = (
        "The adversary knows all records but the canaries and sees every release. Training without "
        "privacy shows about the largest bounds that this number of canaries can give: where as "
        "many guesses are right, training cannot be told from that without noise, and no claim "
        "above the bound can be refuted. The file suite_one_run.csv has the numbers of canaries, "
        "guesses and correct guesses that prove each bound, by Steinke et al. (2023) at an error "
        "of 0.05 / 3. The accountant composes the exact profile of a step over all steps."
    )
    if "r1smg" in set(table["mechanism"]):
        note += (
            " The budget of a step by eq. (16) of r1smg2024 lies outside the range of R1SMG's "
            "theorem here, as it does in the paper."
        )
    return Drawn(caption, table, _draw(table), note)


def _draw(table: pd.DataFrame) -> plt.Figure:
    """A panel for each claimed epsilon; a line for each mechanism and calibration."""
    pairs = [
        (mechanism, calibration)
        for mechanism in in_order(table["mechanism"])
        for calibration in CALIBRATION_TITLES
        if ((table["mechanism"] == mechanism) & (table["calibration"] == calibration)).any()
    ]
    epsilons = sorted(table["epsilon"].unique())
    right = 1.15 * table[[FOUND, "epsilon"]].max().max()
    figure, axes = plt.subplots(
        1, len(epsilons), figsize=(PAGE, 0.7 + 0.4 * len(pairs)), sharey=True, squeeze=False
    )
    for axis, epsilon in zip(axes[0], epsilons, strict=True):
        panel = table[table["epsilon"] == epsilon].set_index(["mechanism", "calibration"])
        for line, pair in enumerate(pairs):
            if pair not in panel.index:
                continue
            style, rows = look(pair[0]), panel.loc[[pair]]
            axis.plot(
                rows[FOUND], [line] * len(rows), style.marker, color=style.colour, alpha=0.7, ms=5
            )
            accounted = rows[ACCOUNTED].iloc[0]
            if accounted <= right:
                axis.plot(accounted, line, "|", color=style.colour, ms=13, mew=2)
            elif accounted < math.inf:
                words = f"bar: {rounded_up(accounted, 3)}"
                # On the side of the claim that has room.
                end = 0.96 * epsilon if 2 * epsilon > right else 0.98 * right
                axis.text(end, line - 0.25, words, ha="right", fontsize=6)
        axis.axvline(epsilon, color="black", lw=1)
        axis.axvspan(epsilon, right, color="#D55E00", alpha=0.07, lw=0)
        axis.set(xlim=(-0.03 * right, right), xlabel=r"$\epsilon$: bounds")
        axis.set_title(rf"claimed $\epsilon$ = {epsilon:g}")
    axes[0, 0].set_yticks(range(len(pairs)), [_title(*pair) for pair in pairs])
    axes[0, 0].set_ylim(len(pairs) - 0.5, -0.5)
    return figure


def _title(mechanism: str, calibration: str) -> str:
    title = title_in(STUDY, mechanism, calibration)
    if mechanism in (CONTROL, DPSGD):
        return title
    return f"{title}, {CALIBRATION_TITLES[calibration]}"
