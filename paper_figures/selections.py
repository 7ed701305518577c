"""Select result rows, and write sentences about them, for several figures."""

import math
from collections.abc import Sequence

import pandas as pd

from claims.judged_rows import LEVELS, required, select
from claims.verdicts import Outcome
from datasets.titles import dataset_title
from mechanisms import all_mechanisms
from paper_figures.drawings import DrawingError
from paper_figures.style import CALIBRATION_TITLES, mechanism_title
from runs.result_table import ERROR, OK

# The guarantee of a variant that a config defines, because only the config names its class.
UNKNOWN = "see the config"
# Descriptions of the sources of data, in descending order of preference.
SOURCE_WORDS = {
    "official": "official data",
    "bundled": "data bundled with scikit-learn",
    "simulated": "simulated data",
    "none": "no data",
}


def main_dataset(rows: pd.DataFrame, study: str) -> tuple[str, str]:
    """Return the data set for a figure that shows only one, and its title with its source.

    Official data take precedence over bundled data, and those over simulated data.

    Raises:
        DrawingError: The results hold no rows of the study.
    """
    pairs = required(
        select(rows, study=study)[["dataset", "data_source"]].drop_duplicates(),
        DrawingError(f"the results hold no rows of {study}; run it first"),
    )
    order = list(SOURCE_WORDS)
    dataset, source = min(pairs.to_numpy().tolist(), key=lambda pair: order.index(pair[1]))
    return dataset, f"{dataset_title(dataset)} ({SOURCE_WORDS[source]})"


def guarantee_of(mechanism: str) -> str:
    """Return the kind of guarantee that a mechanism claims, or UNKNOWN."""
    known = all_mechanisms()
    return known[mechanism].guarantee if mechanism in known else UNKNOWN


def axes_of(shape: str) -> tuple[int, ...]:
    """Return the lengths of the axes of a shape such as "89x89"."""
    return tuple(map(int, shape.split("x")))


def size_of(shape: str) -> int:
    """Return M, the number of elements of a shape such as "89x89"."""
    return math.prod(axes_of(shape))


def query_size(rows: pd.DataFrame, study: str, dataset: str) -> int:
    """Return M, the number of elements of the only query that a study has on a data set."""
    return size_of(select(rows, study=study, dataset=dataset)["shape"].iloc[0])


def private_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of mechanisms, without those of the controls."""
    return rows[~rows["mechanism"].isin(LEVELS)]


def failed_mechanisms(rows: pd.DataFrame, study: str, *datasets: str) -> str:
    """Return a sentence on the mechanisms that lack a result at some grid point, or "".

    The sentence names the data sets and the calibration that lack a result, unless all do, and has
    the message of an error. It begins with a space, so that it can follow another sentence.
    """
    private = _on_datasets(rows, study, datasets)
    run = private.groupby("mechanism")["calibration"].agg(set)
    groups: dict[str, list[str]] = {}
    for (mechanism, status), found in private[private["status"] != OK].groupby(
        ["mechanism", "status"], sort=False
    ):
        on = list(dict.fromkeys(found["dataset"]))
        where = "" if len(on) == len(datasets) else f" on {' and '.join(map(dataset_title, on))}"
        calibrations = [each for each in CALIBRATION_TITLES if each in set(found["calibration"])]
        at = "" if set(calibrations) == run[mechanism] else CALIBRATION_TITLES[calibrations[0]]
        words = ", ".join(filter(None, [status, at]))
        why = f" ({found['message'].iloc[0]})" if status == ERROR else ""
        groups.setdefault(words, []).append(f"{mechanism_title(mechanism)}{where}{why}")
    listed = [f"{words}: {', '.join(names)}" for words, names in groups.items()]
    return f" Without a result at one or more budgets ({'; '.join(listed)})." if listed else ""


def published_only(rows: pd.DataFrame, study: str, *datasets: str) -> str:
    """Return a sentence on the mechanisms that were run as published only, or "".

    The sentence begins with a space, so that it can follow another sentence.
    """
    private = _on_datasets(rows, study, datasets)
    run = private.groupby("mechanism", sort=False)["calibration"].agg(set)
    titles = [mechanism_title(name) for name, found in run.items() if found == {"published"}]
    return f" Run as published only: {', '.join(titles)}." if titles else ""


def _on_datasets(rows: pd.DataFrame, study: str, datasets: tuple[str, ...]) -> pd.DataFrame:
    study_rows = select(rows, study=study)
    return private_rows(study_rows[study_rows["dataset"].isin(datasets)])


def outcome_fields(choice: str, outcomes: Sequence[Outcome]) -> dict:
    """Return the fields of a finding for its outcomes, or the parts of the only outcome."""
    if len(outcomes) == 1:
        return {"parts": outcomes[0].parts}
    return {"choice": choice, "outcomes": outcomes}
