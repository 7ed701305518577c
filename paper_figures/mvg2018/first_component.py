"""mvg2018 Experiment II (Sections 7.2 and 8.2, Table 4): the first principal component."""

from paper_figures.drawings import Drawn, drawing
from paper_figures.mvg2018 import numbers as mvg2018
from paper_figures.mvg2018.compared_study import ComparedStudy
from paper_figures.mvg2018.comparison import SHARED_METHODS, comparison_table
from runs.results import Results

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
# Anchors, counted from 0 as the paper does, by the name of their set.
ANCHORS = {"anc0-anc3": [0, 3], "anc0": [0], "anc3": [3], "anc1-anc2": [1, 2]}

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


@drawing("mvg2018_table4", kind="tables", needs=["first_component"])
def table_4(results: Results) -> Drawn:
    """The error of the component for every mechanism."""
    return comparison_table(results, FIRST_COMPONENT)
