"""r1smg2024 (Ji, Li; USENIX Security 2024): its queries, budgets and stated constants."""

import math
from typing import NamedTuple

from mechanisms import Budget, Query
from papers.setting import PaperSetting

# Section 7.1, Figures 4 and 5: the number of pickups of the window, counted in the official file.
PICKUPS = 52_692
COUNT_DELTA = 1e-7
# Figure 4: the largest exact count, and what released counts exceed ("around", "higher than").
LARGEST_COUNT = 27
LARGEST_RELEASED = {"gaussian": 60, "mvg": 50, "mgm": 40}
# Figure 5: the mean of L = ||noise||^2; the paper says "around".
STATED_LOSSES = {"r1smg": 1.5e4, "gaussian": 5e4, "gaussian-analytic": 5e4, "mvg": 5e4}
# The latitude and longitude, in degrees, of two of the places where the paper sees many pickups on
# its map: the middle of SoHo (Spring Street at West Broadway), and the terminals of LaGuardia
# Airport. The third place, Fifth Avenue, is a line.
PLACES = {"SoHo": (40.7243, -74.0018), "LaGuardia": (40.7742, -73.8724)}
# The largest count of the window's pickups in a cell, from the official file. The two places span a
# rectangle, and a cell inside it has 1/89 of its extent in latitude and in longitude.
DENSEST_WINDOW = 204
# Section 7.2: the numbers of records of Swarm Behaviour and of their features.
PCA_RECORDS = 24_016
PCA_FEATURES = 2400
# Figure 6: the epsilons of the other mechanisms, the factor by which R1SMG's is smaller, and delta.
PCA_EPSILONS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)
PCA_RATIO = 1e7
PCA_DELTA = 1e-7
# The total deviation is a sum over this many of the 2400 components; the paper does not say why.
DEVIATION_COMPONENTS = 2041
# The accuracy on the first 20 exact components.
PCA_ACCURACY = 0.9689


class TrainingBudget(NamedTuple):
    """One of the two budgets of DP-SGD on a data set.

    total: The epsilon of the whole run.
    multiplier: The noise multiplier of DPSGD, as stated with the total.
    step: epsilon_0, the epsilon of a step, as stated with eq. (16).
    """

    total: float
    multiplier: float
    step: float


class StatedTraining(NamedTuple):
    """DP-SGD on a data set (Section 7.3, Figures 7 and 8).

    records: The number of training records; BATCH / records is the sampling rate.
    """

    records: int
    epochs: int
    budgets: tuple[TrainingBudget, TrainingBudget]

    @property
    def rate(self) -> float:
        """The sampling rate q."""
        return BATCH / self.records

    @property
    def totals(self) -> list[float]:
        """The epsilon of the whole run at each budget."""
        return [budget.total for budget in self.budgets]

    @property
    def larger_total(self) -> float:
        """The larger of the two epsilons in `totals`."""
        return max(self.totals)


BATCH = 256
# C, the l2 norm to which a record's gradient is clipped.
CLIPPING_NORM = 1.0
TRAINING_DELTA = 1e-5
# delta' in eq. (16).
SLACK = 1e-10
TRAINING = {
    "mnist": StatedTraining(
        records=60_000,
        epochs=30,
        budgets=(
            TrainingBudget(total=1.795, multiplier=1.1, step=0.71),
            TrainingBudget(total=16.983, multiplier=0.5, step=5.42),
        ),
    ),
    "cifar10": StatedTraining(
        records=50_000,
        epochs=100,
        budgets=(
            TrainingBudget(total=2.673, multiplier=1.1, step=0.54),
            TrainingBudget(total=20.713, multiplier=0.5, step=3.52),
        ),
    ),
}
# delta_0, the delta of a step on MNIST.
STEP_DELTA = 3.33e-7
# Figure 7, at the larger total: a test accuracy on MNIST, and the numbers of epochs until it.
REACHED_ACCURACY = 0.95
REACHED_EPOCHS = {"r1smg": 5, "gaussian": 14}
# Figure 8: a training accuracy on CIFAR-10 that R1SMG passes in "much fewer" epochs.
PASSED_ACCURACY = 0.8
# Appendix B, Figure 9: the epsilons and delta, at l2 sensitivity 1 for every M from 1e2 to 1e6.
GROWTH_EPSILONS = (1e-7, 1e-8, 1e-9)
GROWTH_DELTA = 1e-10


def count_epsilon(mechanism: str) -> float:
    """Return the epsilon of a mechanism in Figures 4 and 5: 1e-5 for R1SMG, 0.5 for the others."""
    return 1e-5 if mechanism == "r1smg" else 0.5


def count_query(pickups: float, shape: tuple[int, int] = (89, 89)) -> Query:
    """Return the count query of Section 7.1; one pickup is replaced, and their number is public.

    Two cells change by 1 each, so the l2 sensitivity is sqrt(2) and the l1 sensitivity is 2. All
    pickups may lie in one cell, so `pickups` bounds the Frobenius norm. This bound is MVG's gamma,
    which the paper does not state.
    """
    return Query(
        shape=shape,
        l2_sensitivity=math.sqrt(2),
        l1_sensitivity=2.0,
        linf_sensitivity=1.0,
        frobenius_bound=float(pickups),
        adjacency="replace",
        structure="histogram",
        record_bound=1.0,
    )


def covariance_query(records: int, features: int) -> Query:
    """Return the query D^T D / N of Section 7.2; one of N records, the rows of D, is replaced.

    A record has d features in [-1, 1]. The l2 sensitivity sqrt(2) d / N is the paper's; two
    orthogonal records of signs attain it. The paper does not state gamma for MVG; here it is d, the
    largest Frobenius norm of the answer.
    """
    return Query(
        shape=(features, features),
        l2_sensitivity=math.sqrt(2) * features / records,
        frobenius_bound=float(features),
        adjacency="replace",
        structure="gram",
        record_bound=math.sqrt(features / records),
    )


# The gradient of the tutorial's MNIST network, which has 26,010 parameters.
GRADIENT = Query(shape=(26_010,), l2_sensitivity=CLIPPING_NORM, adjacency="add-remove")

SETTINGS = (
    *(
        PaperSetting(
            name=f"r1smg2024-count-{epsilon:g}",
            where="Section 7.1, Figures 4 and 5",
            # The paper does not state MVG's gamma; here it is the number of pickups of the window.
            query=count_query(PICKUPS),
            budget=Budget(epsilon=epsilon, delta=COUNT_DELTA),
        )
        for epsilon in (count_epsilon("gaussian"), count_epsilon("r1smg"))
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-pca-{epsilon:g}",
            where="Section 7.2, Figure 6",
            # The paper does not state MVG's gamma; here it is its largest value on [-1, 1].
            query=covariance_query(PCA_RECORDS, PCA_FEATURES),
            budget=Budget(epsilon=epsilon, delta=PCA_DELTA),
        )
        for epsilon in (PCA_EPSILONS[-1], PCA_EPSILONS[-1] / PCA_RATIO)
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-sgd-{budget.step:g}",
            where="Section 7.3, one step, eq. (16)",
            query=GRADIENT,
            budget=Budget(epsilon=budget.step, delta=STEP_DELTA),
        )
        for budget in TRAINING["mnist"].budgets
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-figure9-{side * side}",
            where="Appendix B, Figure 9",
            query=Query(shape=(side, side), l2_sensitivity=1.0),
            budget=Budget(epsilon=GROWTH_EPSILONS[0], delta=GROWTH_DELTA),
        )
        for side in (10, 1000)
    ),
)


def setting(name: str) -> PaperSetting:
    """Return the setting of this paper with a name.

    Raises:
        KeyError: There is no setting of this name.
    """
    return {each.name: each for each in SETTINGS}[name]
