"""The studies of mvg2018 Sections 7 and 8, and the trials that their tables and verdicts read.

Every figure, table and verdict of a study selects its trials here, so that a claim is judged by
the numbers that are drawn. Drawings take the data set that a run has, official data first; verdicts
take official data at the paper's shape and budget only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from claims.intervals import Mean, paired
from claims.judged_rows import official_study, pick
from claims.judges import CannotJudge
from claims.verdicts import Sizes
from paper_figures.selections import main_dataset
from papers import mvg2018
from papers.setting import PaperSetting
from runs.result_table import OK
from runs.results import Results
from studies.base.treatments import IID, PCA, SUBSPACE

MVG, MVG_SQRT = "mvg", "mvg-sqrt"
SETTING = (
    "Epsilon 1, delta 1/N, one record replaced; the paper does not state gamma, the largest "
    "Frobenius norm of the answer: it is that of data in [-1, 1]"
)
KERNEL_TITLES = {"linear": "linear kernel", "polynomial": "cubic kernel", "rbf": "Gaussian kernel"}
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


def difference(larger: pd.DataFrame, smaller: pd.DataFrame) -> Mean:
    """The paired difference; rounding of predictions that are equal is removed."""
    found = paired(larger, smaller)
    # Adding 0 turns -0 into 0.
    return replace(found, values=found.values.round(9) + 0.0)


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


# In all three studies; the second has its own Gaussian and exponential mechanisms.
SHARED_METHODS = {
    "non-private": "Non-private",
    "random-answer": "Random guess",
    MVG: "MVG",
    "jl": "JL transform",
    "laplace": "Laplace",
}

REGRESSION = ComparedStudy(
    name="regression",
    numeral="I",
    table=3,
    setting=mvg2018.REGRESSION,
    score="rmse",
    score_words="root mean squared error of kernel ridge regression on exact test records",
    score_symbol="RMSE",
    query_words="f(X) = X with the target as one more feature, l2 sensitivity 2 sqrt(m)",
    choices=(
        "The paper states no kernel, so every release is scored with three. The scaling of the "
        "records into [-1, 1] uses the data and is not private. The kernels' parameters "
        "are cross-validated without noise. Every trial has other test records, the same "
        f"for all mechanisms. '{treatment_title(PCA)}' are learnt by MVG with 20% of the budget "
        f"(MOD-SULQ, basic composition). '{treatment_title(SUBSPACE)}' is the mechanism on the "
        "right features and the target "
        "alone (Section 9.3)."
    ),
    floor=("rmse_of_zero", "non-private"),
    floor_words="predicting zero",
    blind_margin=mvg2018.NO_DIFFERENCE[mvg2018.REGRESSION.name],
    methods=SHARED_METHODS | {"gaussian": "Gaussian", "exponential": "Exponential"},
    mvg_name="MVG-1",
)


def control_errors(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The trials of a metric that the non-private control measures without noise; may be empty."""
    own = (rows["study"] == REGRESSION.name) & (rows["metric"] == metric)
    return rows[own & (rows["status"] == OK)]


# The mean error of a uniformly random direction v, lambda_1 - tr(C) / 4 because E v v^T = I / 4,
# for the covariance C of the first 2,021 records.
RANDOM_COMPONENT = 0.5064142
# C itself, X X^T / N of these records, which the study computes from the official file.
EXACT_COVARIANCE = (
    (0.3875999732615629, 0.2048593908560119, -0.14219287595013907, -0.19369234210786745),
    (0.2048593908560119, 0.1899431964374073, -0.12431089227115291, -0.14706284017812962),
    (-0.14219287595013907, -0.12431089227115291, 0.23357558285949329, 0.16343859557149928),
    (-0.19369234210786745, -0.14706284017812962, 0.16343859557149928, 0.237522266204849),
)
FIRST_COMPONENT = ComparedStudy(
    name="first_component",
    numeral="II",
    table=4,
    setting=mvg2018.FIRST_COMPONENT,
    score="error",
    score_words="lambda_1 - v^T C v of the first principal component v (eq. 4)",
    score_symbol=r"$\lambda_1 - v^T C v$",
    query_words=(
        "f(X) = X X^T / N, l2 sensitivity 2 m / N as published and sqrt(2) m / N, the true one, "
        "at the exact calibration"
    ),
    choices=(
        "The records are in [-1, 1] as published, or scaled onto it, which uses the data. The "
        "covariance is not centred. MVG is Algorithm 2. "
        f"The mean error of a random direction is {RANDOM_COMPONENT:.4f}, lambda_1 - tr(C) / 4; "
        "that of MVG by 200,000 draws of its noise is in mvg-t4-small."
    ),
    floor=("error", "random-answer"),
    floor_words="a random component",
    exact_floor=RANDOM_COMPONENT,
    methods=SHARED_METHODS | {"analyze-gauss": "Gaussian", "ppca": "Exponential"},
)

COVARIANCE = ComparedStudy(
    name="covariance",
    numeral="III",
    table=5,
    setting=mvg2018.COVARIANCE,
    score="rss",
    score_words="RSS of all principal components (eq. 5)",
    score_symbol="RSS",
    query_words="f(X) = X, l2 sensitivity 2 sqrt(m)",
    choices=(
        "Every feature is mapped onto [-1, 1], which uses the data and is not private. The "
        "covariance is not centred. MVG is Algorithm 1."
    ),
    floor=("rss", "random-answer"),
    methods=SHARED_METHODS | {"gaussian": "Gaussian", "exponential": "Exponential"},
)
STUDIES = {study.name: study for study in (REGRESSION, FIRST_COMPONENT, COVARIANCE)}


def release_seconds(results: Results, study: ComparedStudy) -> pd.DataFrame:
    """Seconds of every release of the whole query as published, on the data set to draw."""
    rows, _ = study.drawn_rows(results.rows)
    own = select(results.timings, study=study.name, metric="release_seconds", status=OK)
    own = select(own[own["dataset"].isin(rows["dataset"])], calibration="published")
    chosen = own.assign(treatment=own["treatment"].fillna(WHOLE_QUERY))
    return chosen[chosen["treatment"] != SUBSPACE]
