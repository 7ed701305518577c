"""mvg2018 Experiment III (Sections 7.3 and 8.3, Table 5): covariance estimation."""

from paper_figures.drawings import Drawn, drawing
from paper_figures.mvg2018 import numbers as mvg2018
from paper_figures.mvg2018.compared_study import ComparedStudy
from paper_figures.mvg2018.comparison import SHARED_METHODS, comparison_table
from runs.results import Results

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


@drawing("mvg2018_table5", kind="tables", needs=["covariance"])
def table_5(results: Results) -> Drawn:
    """RSS of every mechanism."""
    return comparison_table(results, COVARIANCE)
