"""Accuracies of imgm2022's two studies, for their figures and their verdicts."""

from collections.abc import Mapping

import pandas as pd

from claims.judged_rows import LEVELS, ok_rows, pick
from claims.verdicts import Sizes
from datasets.titles import dataset_title
from paper_figures.drawings import Drawn
from paper_figures.over_epsilon import (
    coinciding,
    draw_spread,
    floor_words,
    spread_over_trials,
    trial_words,
    true_epsilons,
)
from paper_figures.panel_sizes import differing_words, missing_words, size_words
from paper_figures.selections import SOURCE_WORDS, failed_mechanisms
from studies.features import network_name

# The metric of either study at the end of a trial.
ACCURACY = {"features": "test_accuracy", "gradients": "final_test_accuracy"}


def official_accuracies(rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """Accuracies at the end of a study's trials, on official data.

    Raises:
        CannotJudge: The run has none.
    """
    wanted = {"study": study, "metric": ACCURACY[study]}
    return pick(rows, data_source="official", **wanted)


def draw_accuracies(
    rows: pd.DataFrame,
    study: str,
    title: str,
    facts: dict[str, str],
    *,
    more: str,
    note: str,
    true: str,
    floors: Mapping[str, float] | None = None,
) -> Drawn:
    """Mean and range of a study's accuracies over epsilon, on every data set.

    Args:
        title: The caption's first words; `more` are its last, without a full stop.
        facts: As in `study_numbers`; `note` follows them.
        true: Of what IMGM's true epsilon is that the note ends with.
        floors: As in `draw_spread`.

    Raises:
        DrawingError: The results hold no accuracies of the study.
    """
    spread = spread_over_trials(rows, study, ACCURACY[study])
    caption = (
        f"{title}, mean and range over {trial_words(spread)}, delta "
        f"{spread['delta'].iloc[0]:g}, on {data_and_sources(rows, study)}. {more}"
        f"{floor_words(spread, floors or {}, 'the majority class')}."
    )
    worth = true_epsilons(spread, "imgm")
    note = (
        f"{study_numbers(rows, study, facts)}. {note}"
        + (f" True epsilon of IMGM's claims {true}: {worth}." if worth else "")
        + coinciding(spread)
        + missing_words(rows, study)
        + differing_words(rows, study)
        + failed_mechanisms(rows, study, *sorted(set(spread["dataset"])))
    )
    beside = {name: size_words(rows, study, name) for name in spread["dataset"].unique()}
    return Drawn(caption, spread, draw_spread(spread, "test accuracy,", floors, beside), note)


def data_and_sources(rows: pd.DataFrame, study: str) -> str:
    """Every data set of a study with its source, in words."""
    pairs = rows[rows["study"] == study][["dataset", "data_source"]].drop_duplicates()
    return ", ".join(
        f"{dataset_title(dataset)} ({SOURCE_WORDS[source]})"
        for dataset, source in sorted(pairs.itertuples(index=False))
    )


def study_numbers(rows: pd.DataFrame, study: str, facts: dict[str, str]) -> str:
    """Some metrics of a study on every data set, in words.

    Args:
        facts: The words for a metric, by its name.
    """
    sentences = []
    for dataset, part in rows[rows["study"] == study].groupby("dataset"):
        values = {m: ok_rows(part, study, m)["value"].iloc[0] for m in facts}
        numbers = ", ".join(
            f"{words} {values[m]:{'.4f' if values[m] < 1 else ',.0f'}}"
            for m, words in facts.items()
        )
        sentences.append(f"{dataset_title(dataset)}: {numbers}")
    return "; ".join(sentences)


def sizes_of(rows: pd.DataFrame, study: str, datasets: list[str]) -> Sizes:
    """What a verdict on a study rests on; of several data sets the one with the fewest records."""
    accuracies = official_accuracies(rows, study)
    accuracies = accuracies[accuracies["dataset"].isin(datasets)]
    private = accuracies[~accuracies["mechanism"].isin(LEVELS)]
    records = ok_rows(rows, study, "records")
    records = records[records["dataset"].isin(datasets)].groupby("dataset")["value"].first()
    least = records.idxmin() if len(records) else datasets[0]
    own = rows[(rows["study"] == study) & (rows["dataset"] == least)]
    # `gradients` measures at every epoch; `features` states how many its head has.
    epochs = own["epoch"] if study == "gradients" else ok_rows(own, study, "epochs")["value"]
    return Sizes(
        dataset=least,
        records=int(records[least]) if len(records) else None,
        epochs=float(epochs.max()),
        trials=int(private.groupby("dataset")["trial"].nunique().min()),
        network=", ".join(_network_title(rows, study, name) for name in datasets),
        epsilons=", ".join(f"{epsilon:g}" for epsilon in sorted(set(private["epsilon"]))),
    )


# The study `gradients` has one network for each data set.
GRADIENT_NETWORKS = {
    "mnist": "LeNet",
    "svhn": "AlexNet",
    "cifar10": "VGG-16",
    "adult": "MLP",
    "cora": "GCN",
}
# A config chooses the networks of the study `features`, by these names.
CUT_NETWORKS = {
    "lenet": "LeNet",
    "cnn": "small CNN",
    "vgg16": "VGG-16",
    "alexnet": "AlexNet",
    "bilstm": "BiLSTM",
}


def _network_title(rows: pd.DataFrame, study: str, dataset: str) -> str:
    """The network that a study trained; that of `features` by its features."""
    if study == "gradients":
        return GRADIENT_NETWORKS[dataset]
    own = rows[(rows["study"] == study) & (rows["dataset"] == dataset)]
    return CUT_NETWORKS[network_name(int(own["shape"].iloc[0].split("x")[-1]))]
