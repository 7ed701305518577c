"""The families of queries that leaderboards rank, in their order."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A family of queries: one page of the leaderboard."""

    key: str
    title: str
    about: str


COUNTS = Family(
    "counts",
    "Count queries",
    "A map of counts: how many pickups fall into every cell of a grid.",
)
RANGES = Family(
    "ranges",
    "Prefix and range queries",
    "Many sums over one histogram. Noise can be made for such a workload.",
)
COMPONENTS = Family(
    "components",
    "Principal components",
    "Directions of most variance, from a private covariance or from private records.",
)
REGRESSION = Family(
    "regression",
    "Regression",
    "Kernel ridge regression that is fitted to privately released records.",
)
GRADIENTS = Family(
    "gradients",
    "Gradients",
    "Training with noisy gradients. The budget is that of the whole training.",
)
IMAGES = Family(
    "images",
    "Images",
    "Classifiers that learn from released images and are tested on clean ones.",
)
FEATURES = Family(
    "features",
    "Features of batches",
    "The features that a network computes, released for a batch of records at a time.",
)
LOCAL = Family(
    "local",
    "Local releases of features and parameters",
    "Every user protects a vector of their own before it leaves them.",
)
FAMILIES = (COUNTS, RANGES, COMPONENTS, REGRESSION, GRADIENTS, IMAGES, FEATURES, LOCAL)
