"""tldp2025 type III, averaged models of three users: Figure 3.

The verdicts on the claims about it are in private_parameters_verdicts.py.
"""

import pandas as pd

from claims.judged_rows import LEVELS, listed, ok_rows
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from paper_figures.drawings import Drawn, drawing
from paper_figures.over_epsilon import floor_words
from paper_figures.panel_sizes import differing_words, missing_words, size_words
from paper_figures.selections import failed_mechanisms, query_size
from paper_figures.style import in_order, look
from paper_figures.tldp2025.numbers import (
    CLIP,
    COMPARABLE_ABOVE,
    NETWORKS,
    STATED_DELTA,
    STATED_DELTA_IMDB,
    STATED_F1_IMDB,
    stated_delta,
)
from paper_figures.tldp2025.scores import (
    FALSE_CLAIM,
    OF_THE_PAPER,
    Stated,
    at_equal_privacy,
    drawn_scores,
    hidden_curves,
    score_figure,
    shared_number,
    sources,
    trials_and_delta,
)
from runs.results import Results
from studies.private_parameters import PUBLIC_RECORDS

STUDY = "private_parameters"
# Gaussian noise that is i.i.d. on all parameters as one row.
IID = ("mvg-sqrt", "idn")
GUESS = "a guess, the share of the majority class, about the F1 of naming classes at random"
_SPENT = ("true_delta_upper", "true_epsilon_upper")
_KEYS = ["dataset", "range", "calibration", "mechanism", "epsilon"]
# Scores that the paper's text states for Figure 3.
STATED = {
    f"IMDB, Delta = {width:,}": {
        "TLDP, LLAGP": Stated(STATED_F1_IMDB["tldp"]),
        "others": Stated(STATED_F1_IMDB["others"]),
    }
    for width in (2, STATED_DELTA_IMDB)
}


@drawing("tldp2025_fig3", kind="figures", needs=[STUDY])
def figure_3(results: Results) -> Drawn:
    """F1 over epsilon of the averaged models, and what all rounds truly spend."""
    rows = results.rows
    spread = drawn_scores(rows, STUDY, "range")
    spread["panel"] = [
        _panel(dataset, name)
        for dataset, name in zip(spread["dataset"], spread["range"], strict=True)
    ]
    guesses = spread["dataset"].map(MAJORITY).groupby(spread["panel"]).first().dropna()
    spent = _spent(rows)
    datasets = sorted(spread["dataset"].unique())
    trained = "; ".join(
        f"{dataset_title(dataset)}: {shared_number(rows, STUDY, dataset, 'records'):,.0f} records, "
        f"a model of {query_size(rows, STUDY, dataset):,} parameters, "
        f"{shared_number(rows, STUDY, dataset, 'rounds'):.0f} rounds"
        for dataset in datasets
    )
    caption = (
        "tldp2025 Figure 3 (type III): weighted F1 on test records of a model that three users "
        f"train by averaging parameters, {trials_and_delta(spread)}. Data: {sources(rows, STUDY)}. "
        "Adjacency local. Left: as published; epsilon is per release. Right: noise rescaled until "
        "the true delta of all rounds together is the budget's"
        f"{at_equal_privacy(spread, MAJORITY)}."
    )
    width = 2 * CLIP
    note = (
        f"{trained}. In every round each user trains for an epoch, clips every parameter to "
        f"[-{CLIP:g}, {CLIP:g}], releases all of them through the mechanism and gets back the mean "
        "of the users. The parameters of a user may become any others. A parameter has a range of "
        f"{width:g}; the paper's Table 4 states Delta = {STATED_DELTA}, for IMDB "
        f"{STATED_DELTA_IMDB:,}. At a given epsilon all noise is then {STATED_DELTA / width:g} "
        f"and {STATED_DELTA_IMDB / width:,.0f} times as large. On images, TLDP-L at Delta = "
        f"{STATED_DELTA} has the noise that it has at Delta = 2 and epsilon / "
        f"{STATED_DELTA / width:g}; TLDP-G, at epsilon / {(STATED_DELTA / width) ** 2:,.0f}. "
        "Dotted: without noise, and random parameters"
        f"{floor_words(spread.assign(dataset=spread['panel']), guesses, GUESS)}. Stars: "
        "the paper's scores. Its list of steps adds noise once, to the "
        "mean; in its text every user adds noise, as here. The classic Gaussian is stated for "
        f"epsilon < 1 only. True epsilon of all rounds as published: {_true_totals(spent)}. LLAGP "
        "and DPHSGD follow the paper's description, with our choices where it leaves something "
        f"open; DPHSGD's thresholds come from {PUBLIC_RECORDS} more records, which are public."
        f"{_same_as_gaussian(spread)} {FALSE_CLAIM}{hidden_curves(spread)}"
        f"{missing_words(rows, STUDY)}"
        f"{differing_words(rows, STUDY)}"
        f"{failed_mechanisms(rows[rows['mechanism'].isin(OF_THE_PAPER)], STUDY, *datasets)}"
    )
    beside = {
        panel: _beside(rows, dataset)
        for panel, dataset in zip(spread["panel"], spread["dataset"], strict=True)
    }
    epsilons = {
        "published": "claimed epsilon of a release",
        "exact": "epsilon of all rounds (true: at most this)",
    }
    words = {COMPARABLE_ABOVE: f"paper: comparable\nabove {COMPARABLE_ABOVE}"}
    floors = guesses.to_dict()
    figure = score_figure(spread, "F1 of", STATED, beside, floors, epsilons, words)
    return Drawn(caption, spread.merge(spent, on=_KEYS, how="left"), figure, note)


def _beside(rows: pd.DataFrame, dataset: str) -> str:
    """What a panel says of its size."""
    parameters = f"{query_size(rows, STUDY, dataset):,} parameters"
    if dataset in NETWORKS:
        parameters += f" (paper: {NETWORKS[dataset]})"
    return ",\n".join(filter(None, (size_words(rows, STUDY, dataset), parameters)))


def _same_as_gaussian(spread: pd.DataFrame) -> str:
    """One sentence on i.i.d. Gaussian noise that was run as published alone, or nothing."""
    run = set(spread[spread["calibration"] == "exact"]["mechanism"])
    alone = [name for name in IID if name in set(spread["mechanism"]) and name not in run]
    if not alone or "gaussian" not in run:
        return ""
    names = listed([look(name).title for name in alone])
    return f" At equal true privacy {names} would have the noise of the classic Gaussian."


def _spent(rows: pd.DataFrame) -> pd.DataFrame:
    """Upper bounds on the true delta and epsilon of all rounds, a column each."""
    own = pd.concat([ok_rows(rows, STUDY, metric) for metric in _SPENT])
    return own.pivot_table(index=_KEYS, columns="metric", values="value").reset_index()


def width_of(dataset: str, delta_range: str) -> float:
    """Delta of a range on a data set."""
    return stated_delta(dataset) if delta_range == "stated" else 2 * CLIP


def _panel(dataset: str, delta_range: str) -> str:
    """ "MNIST, Delta = 256"."""
    return f"{dataset_title(dataset)}, Delta = {width_of(dataset, delta_range):,g}"


def _true_totals(spent: pd.DataFrame) -> str:
    """True epsilon of what is drawn, as published, at the largest epsilon of each data set."""
    drawn = spent["mechanism"].isin(OF_THE_PAPER) & ~spent["mechanism"].isin(LEVELS)
    own = spent[(spent["calibration"] == "published") & drawn]
    own = own[own["range"] == "clip"]
    own = own[own["epsilon"] == own.groupby("dataset")["epsilon"].transform("max")]
    words = []
    for dataset, rows in own.groupby("dataset"):
        true = rows.set_index("mechanism")["true_epsilon_upper"]
        totals = ", ".join(f"{look(m).title} {true[m]:.3g}" for m in in_order(true.index))
        epsilon = rows["epsilon"].iloc[0]
        words.append(f"{dataset_title(dataset)} at epsilon {epsilon:g}: {totals}")
    return "; ".join(words)
