"""tldp2025 type III, averaged models of three users: Figure 3 and its claims.

Judges read official data only.
"""

from __future__ import annotations

import pandas as pd

from paper_figures.drawings import Drawn, drawing
from paper_figures.ledger import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    CannotJudge,
    Claim,
    Finding,
    judge,
)
from paper_figures.results import Results
from paper_figures.selections import LEVELS, failed_mechanisms, ok_rows, size_of
from paper_figures.style import dataset_title, in_order, look
from paper_figures.tldp2025.scores import (
    TLDP,
    drawn_scores,
    official_datasets,
    official_scores,
    score_figure,
    shared_number,
    sources,
    trials_and_delta,
)
from paper_figures.verdict_rules import (
    close,
    listed,
    paired_difference,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)
from papers.tldp2025 import CLIP, STATED_DELTA, STATED_DELTA_IMDB

STUDY = "private_parameters"
_SPENT = ("true_delta_upper", "true_epsilon_upper")
_KEYS = ["dataset", "calibration", "mechanism", "epsilon"]


@drawing("tldp2025_fig3", kind="figures", needs=[STUDY])
def figure_3(results: Results) -> Drawn:
    """F1 over epsilon of the averaged models, and what all rounds truly spend."""
    rows = results.rows
    spread = drawn_scores(rows, STUDY)
    spent = _spent(rows)
    datasets = sorted(spread["dataset"].unique())
    trained = "; ".join(
        f"{dataset_title(dataset)}: {shared_number(rows, STUDY, dataset, 'records'):,.0f} records, "
        f"a model of {_parameters(rows, dataset):,} parameters, "
        f"{shared_number(rows, STUDY, dataset, 'rounds'):.0f} rounds"
        for dataset in datasets
    )
    caption = (
        "tldp2025 Figure 3 (type III): weighted F1 on test records of a model that three users "
        f"train by averaging parameters, {trials_and_delta(spread)}. Data: {sources(rows, STUDY)}. "
        "Adjacency local. Left: as published, where epsilon is that of one release. Right: noise "
        "rescaled until the true delta of all rounds together is the budget's."
    )
    width = 2 * CLIP
    note = (
        f"{trained}. In every round each user trains for an epoch, clips every parameter to "
        f"[-{CLIP:g}, {CLIP:g}], releases all of them through the mechanism and gets back the mean "
        "of the users. The parameters of a user may become any others. A parameter has a range of "
        f"{width:g}; the paper's Table 4 states Delta = {STATED_DELTA}, for IMDB "
        f"{STATED_DELTA_IMDB:,}, at which all noise would be {STATED_DELTA / width:g} and "
        f"{STATED_DELTA_IMDB / width:,.0f} times as large. Its list of steps adds one noise to the "
        "mean; in its text every user adds noise, as here. The classic Gaussian is stated for "
        f"epsilon < 1 only. True epsilon of all rounds as published: {_true_totals(spent)}. LLAGP "
        "and DPHSGD follow the paper's description, with our choices where it leaves something "
        "open; DPHSGD's thresholds come from public records."
        f"{failed_mechanisms(rows, STUDY, *datasets)}"
    )
    figure = score_figure(spread, "F1 on the test records of")
    return Drawn(caption, spread.merge(spent, on=_KEYS, how="left"), figure, note)


def _spent(rows: pd.DataFrame) -> pd.DataFrame:
    """Upper bounds on the true delta and epsilon of all rounds, a column each."""
    own = pd.concat([ok_rows(rows, STUDY, metric) for metric in _SPENT])
    return own.pivot_table(index=_KEYS, columns="metric", values="value").reset_index()


def _parameters(rows: pd.DataFrame, dataset: str) -> int:
    """Number of parameters of the model."""
    own = rows[(rows["experiment"] == STUDY) & (rows["dataset"] == dataset)]
    return size_of(own["shape"].iloc[0])


def _true_totals(spent: pd.DataFrame) -> str:
    """True epsilon of every mechanism as published, at the largest epsilon of each data set."""
    own = spent[(spent["calibration"] == "published") & ~spent["mechanism"].isin(LEVELS)]
    own = own[own["epsilon"] == own.groupby("dataset")["epsilon"].transform("max")]
    words = []
    for dataset, rows in own.groupby("dataset"):
        true = rows.set_index("mechanism")["true_epsilon_upper"]
        totals = ", ".join(f"{look(m).title} {true[m]:.3g}" for m in in_order(true.index))
        epsilon = rows["epsilon"].iloc[0]
        words.append(f"{dataset_title(dataset)} at epsilon {epsilon:g}: {totals}")
    return "; ".join(words)


@judge(experiments=(STUDY,))
def comparable_range(claim: Claim, results: Results) -> Finding:
    """No mechanism does better than random parameters up to an epsilon, and one does above it.

    Arguments: above, that epsilon; margin, by which the F1 must exceed that of random parameters.
    """
    a, words, parts = claim.arguments, [], []
    for dataset in official_datasets(results.rows, STUDY):
        scores = official_scores(results.rows, STUDY, dataset)
        chance = scores.level("random-answer")
        highest = scores.means.drop(list(LEVELS), level="mechanism", errors="ignore")
        highest = highest.groupby("epsilon").max()
        learned = highest > chance + a["margin"]
        low, high = learned[learned.index <= a["above"]], learned[learned.index > a["above"]]
        if low.empty or high.empty:
            raise CannotJudge(f"The run has no budgets on both sides of {a['above']}")
        parts.append(REPRODUCED if high.any() and not low.any() else NOT_REPRODUCED)
        values = listed(f"{value:.3g} at {epsilon:g}" for epsilon, value in highest.items())
        words.append(f"{dataset}: {values}, random parameters {chance:.3g}")
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(*parts),
        detail=(
            "The highest mean F1 of any mechanism at each epsilon of one release, as published. "
            "The claim is read as: no mechanism learns up to that epsilon, one does above it."
        ),
        calibration="published",
        trials=scores.trials,
    )


@judge(experiments=(STUDY,))
def two_groups(claim: Claim, results: Results) -> Finding:
    """F1 of two groups of mechanisms at the largest epsilon.

    Arguments: dataset; stated, for each group its F1 and its mechanisms.
    """
    a, rows = claim.arguments, results.rows
    scores = official_scores(rows, STUDY, a["dataset"])
    epsilon = float(scores.rows["epsilon"].max())
    largest = scores.at(epsilon)
    pairs, words, apart = [], [], []
    for group in a["stated"]:
        ours = {key: largest.best([key]) for key in group["mechanisms"]}
        pairs += [(value, group["f1"]) for value in ours.values()]
        apart += [k for k, value in ours.items() if not close(value, group["f1"], claim.tolerance)]
        words.append(listed(f"{value:.3g} ({key})" for key, value in ours.items()))
    clean, chance = scores.level("non-private"), scores.level("random-answer")
    exact = official_scores(rows, STUDY, a["dataset"], "exact").best(TLDP)
    return Finding(
        ours="; ".join(words),
        verdict=verdict_on_numbers(pairs, claim.tolerance),
        detail=(
            f"Mean weighted F1 at epsilon {epsilon:g} a release, "
            f"{shared_number(rows, STUDY, a['dataset'], 'rounds'):.0f} rounds, on "
            f"{shared_number(rows, STUDY, a['dataset'], 'records'):,.0f} records; without noise "
            f"{clean:.3g}, with random parameters {chance:.3g}. One answer for all reviews has "
            f"0.333. At equal true privacy of all rounds TLDP reaches {exact:.3g} at most. Outside "
            f"the tolerance: {listed(apart) if apart else 'none'}."
        ),
        calibration="both",
        trials=scores.trials,
    )


@judge(experiments=(STUDY,))
def parameter_order(claim: Claim, results: Results) -> Finding:
    """TLDP above LLAGP and LLAGP above the others, and where DPHSGD does well.

    Arguments: exception, the data set on which LLAGP is not second; good_on, the only one on which
    DPHSGD does well; others; margin, within which an F1 counts as that of random parameters.
    Mechanisms are compared at the largest epsilon by paired differences of F1 over the trials,
    which share start and batches.
    """
    a, words = claim.arguments, []
    names = ("TLDP best", "LLAGP second", "DPHSGD low", "DPHSGD good")
    parts: dict[str, list[str]] = {name: [] for name in names}
    for dataset in official_datasets(results.rows, STUDY):
        scores = official_scores(results.rows, STUDY, dataset)
        epsilon = float(scores.rows["epsilon"].max())
        means, chance = scores.at(epsilon).means.droplevel("epsilon"), scores.level("random-answer")
        leader = max(TLDP, key=means.get)

        def ahead(larger, smaller, scores=scores, epsilon=epsilon):
            ours = scores.of(larger, epsilon)
            return verdict_on_order(
                *(paired_difference(ours, scores.of(key, epsilon)) for key in smaller)
            )

        parts["TLDP best"].append(ahead(leader, ("llagp", "dphsgd", *a["others"])))
        if dataset != a["exception"]:
            # Among models that have learned nothing any order is chance.
            learned = means["llagp"] > chance + a["margin"]
            order = ahead("llagp", ("dphsgd", *a["others"])) if learned else NOT_REPRODUCED
            parts["LLAGP second"].append(order)
        high = means["dphsgd"] > chance + a["margin"]
        name = "DPHSGD good" if dataset == a["good_on"] else "DPHSGD low"
        parts[name].append(REPRODUCED if high == (name == "DPHSGD good") else NOT_REPRODUCED)
        shown = listed(f"{means[k]:.3g} ({k})" for k in (leader, "llagp", "dphsgd", *a["others"]))
        words.append(f"{dataset} at epsilon {epsilon:g}: {shown}, random {chance:.3g}")
    verdicts = {name: verdict_of_parts(*own) if own else NOT_RUN for name, own in parts.items()}
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(*verdicts.values()),
        detail=(
            "Part by part: "
            f"{listed(f'{name} {verdict}' for name, verdict in verdicts.items())}. LLAGP and "
            "DPHSGD follow the description in tldp2025, with our choices where it leaves something "
            "open."
        ),
        calibration="published",
        trials=scores.trials,
    )
