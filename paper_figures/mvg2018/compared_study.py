"""The studies of mvg2018 Sections 7 and 8, and the trials that their tables and verdicts read.

Every figure, table and verdict of a study selects its trials here, so that a claim is judged by
the numbers that are drawn. Drawings take the data set that a run has, official data first; verdicts
take official data at the paper's shape and budget only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from claims.judged_rows import official_study, pick
from claims.judges import CannotJudge
from claims.verdicts import Sizes
from paper_figures.paper_setting import PaperSetting
from paper_figures.selections import main_dataset
from runs.result_table import OK
from studies.base.treatments import IID, PCA, SUBSPACE

MVG, MVG_SQRT = "mvg", "mvg-sqrt"
# The treatment of a mechanism that has one use only.
WHOLE_QUERY = ""
# Treatments in words; a set of features that is not here has its own name.
TREATMENT_TITLES = {
    "alt-y": "ALT and target",
    "alt": "ALT alone",
    "y": "target alone",
    "alt-y-ast": "ALT, target and AST",
    "anc0-anc3": "anchors 0 and 3",
    "anc0": "anchor 0 alone",
    "anc3": "anchor 3 alone",
    "anc1-anc2": "anchors 1 and 2",
    "fhr-asv-alv": "FHR, ASV and ALV",
    "wrong": "all other features",
    IID: "equal precision",
    PCA: "private directions",
    SUBSPACE: "right features only",
}


@dataclass(frozen=True, kw_only=True)
class ComparedStudy:
    """One of the three studies in which mvg2018 compares MVG with other mechanisms.

    Args:
        name: Name of the study, see `studies`.
        numeral: Its number in the paper, such as "II".
        table: Number of its table in the paper.
        setting: The paper's query and budget.
        score: The metric that is compared; less is better.
        score_words: What the score is.
        score_symbol: The score on an axis.
        query_words: The query and its sensitivity.
        choices: What the paper leaves open, in sentences.
        floor: The metric, and the mechanism it is of, that is the error without any information.
        floor_words: The same in words: "the random answer".
        exact_floor: That error on the paper's data in closed form, in place of a mean over trials.
        blind_margin: Errors within this of that one show no information. None: two standard errors
            of that one's mean, and errors above it show no information either.
        methods: Keys of the mechanisms behind the paper's methods, with the paper's names.
        mvg_name: The paper's name of MVG with the right features.
    """

    name: str
    numeral: str
    table: int
    setting: PaperSetting
    score: str
    score_words: str
    score_symbol: str
    query_words: str
    choices: str
    floor: tuple[str, str]
    floor_words: str = "the random answer"
    exact_floor: float | None = None
    blind_margin: float | None = None
    methods: Mapping[str, str]
    mvg_name: str = "MVG"

    def drawn_rows(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
        """The study's rows on the data set to draw, and that data set in words."""
        dataset, source = main_dataset(rows, self.name)
        return rows[(rows["study"] == self.name) & (rows["dataset"] == dataset)], source

    def judged_rows(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The study's rows at the paper's data, shape and budget.

        Raises:
            CannotJudge: There are none.
        """
        shape = "x".join(map(str, self.setting.query.shape))
        chosen = official_study(
            rows,
            self.name,
            about=f"the {self.name} study",
            shape=shape,
            delta=self.setting.budget.delta,
        )
        return pick(chosen, epsilon=self.setting.budget.epsilon)

    def scores(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The score in every trial; `treatment` is `WHOLE_QUERY` where a mechanism has one use."""
        own = (rows["metric"] == self.score) & (rows["status"] == OK)
        chosen = rows[own & (rows["study"] == self.name)]
        return chosen.assign(treatment=chosen["treatment"].fillna(WHOLE_QUERY))

    def blind_error(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The trials of the error without any information; may be empty."""
        metric, mechanism = self.floor
        chosen = (rows["metric"] == metric) & (rows["mechanism"] == mechanism)
        chosen &= (rows["study"] == self.name) & (rows["calibration"] == "published")
        return rows[chosen & (rows["status"] == OK)]

    def sizes(self, scores: pd.DataFrame) -> Sizes:
        """What a verdict on these scores rests on."""
        return Sizes(
            records=round(1 / self.setting.budget.delta),
            trials=int(scores["trial"].nunique()),
            epsilons=f"{self.setting.budget.epsilon:g}",
            network="kernel ridge regression" if kernels_of(scores) != [None] else None,
        )


def treatment_title(treatment: str) -> str:
    """A treatment in words."""
    return TREATMENT_TITLES.get(treatment, treatment)


def kernels_of(scores: pd.DataFrame) -> list[str | None]:
    """The kernels of the regression, or [None] in a study without one."""
    if "kernel" not in scores or scores["kernel"].isna().all():
        return [None]
    return sorted(scores["kernel"].dropna().unique())


def with_kernel(scores: pd.DataFrame, kernel: str | None) -> pd.DataFrame:
    """The scores with one kernel, all where it is None."""
    return scores if kernel is None else scores[scores["kernel"] == kernel]


def select(scores: pd.DataFrame, **values: str) -> pd.DataFrame:
    """The scores with these values of mechanism, calibration or treatment; may be empty."""
    for column, value in values.items():
        scores = scores[scores[column] == value]
    return scores


def at_best_share(scores: pd.DataFrame) -> pd.DataFrame:
    """Of one treatment's scores, those at the share tau with the least mean.

    The share is chosen with the data, as in the paper, which favours the treatment. Without shares,
    all scores.
    """
    if scores["share"].isna().all():
        return scores
    return scores[scores["share"] == scores.groupby("share")["value"].mean().idxmin()]


def mean_over_shares(scores: pd.DataFrame) -> pd.DataFrame:
    """One treatment's score in every trial, the mean over the shares tau."""
    return scores.groupby("trial", as_index=False)["value"].mean()


def right_treatment(scores: pd.DataFrame) -> str | None:
    """MVG's treatment with the features that the paper calls informative, or None without MVG.

    By convention they are the first set in the config, and the rows keep the config's order
    (`studies.base.treatments.right_features`).
    """
    sets = select(scores, mechanism=MVG)
    sets = sets[sets["share"].notna() & ~sets["treatment"].isin((IID, PCA))]["treatment"]
    return None if sets.empty else str(sets.iloc[0])


def judged_treatment(scores: pd.DataFrame, study: ComparedStudy) -> str:
    """`right_treatment`.

    Raises:
        CannotJudge: MVG has no result.
    """
    right = right_treatment(scores)
    if right is None:
        raise CannotJudge(f"The results of {study.name} have no rows of {MVG} with directions")
    return right
