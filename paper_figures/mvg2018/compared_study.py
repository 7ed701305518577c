"""Describe the studies of mvg2018 Sections 7 and 8, and select the trials that are shown or judged.

Every figure, table and verdict of a study selects its trials here, so that claims are judged by
the numbers that are drawn. Drawings show one data set of the run, an official one if there is any.
Verdicts use only official data at the paper's shape and budget.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from claims.intervals import Mean, paired
from claims.judged_rows import official_study, ok_rows, pick, select
from claims.judges import CannotJudge
from claims.verdicts import Sizes
from paper_figures.selections import main_dataset
from papers import mvg2018
from papers.setting import PaperSetting
from runs.results import Results
from studies.base.treatments import IID, PCA, SUBSPACE

MVG = "mvg"
SETTING = (
    "Epsilon 1, delta 1/N, one record replaced; the paper does not state gamma, the largest "
    "Frobenius norm of the answer: it is that of data in [-1, 1]"
)
KERNEL_TITLES = {"linear": "linear kernel", "polynomial": "cubic kernel", "rbf": "Gaussian kernel"}
# The treatment of a mechanism that has no treatments.
WHOLE_QUERY = ""
# The titles of treatments. A set of features without an entry has its name as its title.
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
    "gaussian": "classic Gaussian",
    PCA: "private directions",
    SUBSPACE: "right features only",
}


@dataclass(frozen=True, kw_only=True)
class ComparedStudy:
    """One of the three studies in which mvg2018 compares MVG with other mechanisms.

    Args:
        name: The name of the study in `studies`.
        dataset: The key of the paper's data set.
        numeral: The study's number in the paper, such as "II".
        table: The number of its table in the paper.
        setting: The paper's query and budget.
        score: The metric that is compared; smaller values are better.
        score_words: A description of the score.
        score_symbol: The label of the score on an axis.
        query_words: A description of the query and its sensitivity.
        choices: Sentences on the choices that the paper leaves open.
        methods: The paper's names of the mechanisms, by key.
        mvg_name: The paper's name of MVG with the features that the paper calls informative.
    """

    name: str
    dataset: str
    numeral: str
    table: int
    setting: PaperSetting
    score: str
    score_words: str
    score_symbol: str
    query_words: str
    choices: str
    methods: Mapping[str, str]
    mvg_name: str = "MVG"

    def drawn_rows(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
        """Return the study's rows on the data set to draw, and that data set's title and source."""
        dataset, source = main_dataset(rows, self.name)
        return select(rows, study=self.name, dataset=dataset), source

    def judged_rows(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the study's rows at the paper's data, shape and budget.

        Raises:
            CannotJudge: There are no such rows.
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
        """Return the score of every trial, with WHOLE_QUERY in place of an absent treatment."""
        chosen = ok_rows(rows, self.name, self.score)
        return chosen.assign(treatment=chosen["treatment"].fillna(WHOLE_QUERY))

    def sizes(self, scores: pd.DataFrame) -> Sizes:
        """Return the sizes behind a verdict on these scores."""
        return Sizes(
            records=round(1 / self.setting.budget.delta),
            trials=int(scores["trial"].nunique()),
            epsilons=f"{self.setting.budget.epsilon:g}",
            network="kernel ridge regression" if kernels_of(scores) != [None] else None,
        )


def treatment_title(treatment: str) -> str:
    """Return the title of a treatment in figures and findings."""
    return TREATMENT_TITLES.get(treatment, treatment)


def kernels_of(scores: pd.DataFrame) -> list[str | None]:
    """Return the kernels in the scores of a regression, or [None] for a study without kernels."""
    if "kernel" not in scores:
        return [None]
    return sorted(scores["kernel"].dropna().unique()) or [None]


def select_kernel(scores: pd.DataFrame, kernel: str | None) -> pd.DataFrame:
    """Return the scores with one kernel, or all scores if the kernel is None."""
    return scores if kernel is None else select(scores, kernel=kernel)


def select_best_share(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one treatment's scores at its share tau with the least mean; all if it has no shares.

    As in the paper, the share is chosen with the data, which favours the treatment.
    """
    if scores["share"].isna().all():
        return scores
    return select(scores, share=scores.groupby("share")["value"].mean().idxmin())


def difference(larger: pd.DataFrame, smaller: pd.DataFrame) -> Mean:
    """Return the difference by trial, rounded so that equal predictions differ by exactly 0."""
    found = paired(larger, smaller)
    # Adding 0 turns -0 into 0.
    return replace(found, values=found.values.round(9) + 0.0)


def right_treatment(scores: pd.DataFrame) -> str | None:
    """Return MVG's treatment with the features that the paper calls informative; None without MVG.

    By convention the config lists this set of features first (see
    `studies.base.treatments.right_features`), and the rows keep the config's order.
    """
    sets = select(scores, mechanism=MVG)
    sets = sets[sets["share"].notna() & ~sets["treatment"].isin((IID, PCA))]["treatment"]
    return None if sets.empty else str(sets.iloc[0])


def require_right_treatment(scores: pd.DataFrame, study: ComparedStudy) -> str:
    """Return `right_treatment` of the scores, or raise an error.

    Raises:
        CannotJudge: The scores have no rows of MVG with directions.
    """
    right = right_treatment(scores)
    if right is None:
        raise CannotJudge(f"The results of {study.name} have no rows of {MVG} with directions")
    return right


# The methods in all three studies.
SHARED_METHODS = {
    "non-private": "Non-private",
    "random-answer": "Random guess",
    MVG: "MVG",
    "jl": "JL transform",
    "laplace": "Laplace",
}
# The methods in the two studies of identity queries.
IDENTITY_METHODS = SHARED_METHODS | {"gaussian": "Gaussian", "exponential": "Exponential"}

REGRESSION = ComparedStudy(
    name="regression",
    dataset="liver_disorders",
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
    methods=IDENTITY_METHODS,
    mvg_name="MVG-1",
)

FIRST_COMPONENT = ComparedStudy(
    name="first_component",
    dataset="movement_aal",
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
        "covariance is not centred. MVG is Algorithm 2; mvg-t4-small has its mean error by draws."
    ),
    methods=SHARED_METHODS | {"analyze-gauss": "Gaussian", "ppca": "Exponential"},
)

COVARIANCE = ComparedStudy(
    name="covariance",
    dataset="cardiotocography",
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
    methods=IDENTITY_METHODS,
)
STUDIES = {study.name: study for study in (REGRESSION, FIRST_COMPONENT, COVARIANCE)}


def seconds_of(
    results: Results, study: ComparedStudy, metric: str = "release_seconds"
) -> pd.DataFrame:
    """Return the published timings of the whole query on the data set to draw."""
    rows, _ = study.drawn_rows(results.rows)
    timings = results.timings[results.timings["dataset"].isin(rows["dataset"])]
    published = select(ok_rows(timings, study.name, metric), calibration="published")
    chosen = published.assign(treatment=published["treatment"].fillna(WHOLE_QUERY))
    return chosen[chosen["treatment"] != SUBSPACE]
