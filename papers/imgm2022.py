"""imgm2022 (Yang, Xiang, Li, Liu, Wang; arXiv:2104.14808): its query and budget."""

from mechanisms import Budget
from mechanisms.query.box_query import box_query
from papers.setting import PaperSetting

# Section 5: the numbers of training records.
RECORDS = {"mnist": 55_000, "cifar10": 50_000, "svhn": 73_257, "imdb": 25_000}
# Table 1: the numbers of training records and of epochs with private gradients (type I).
GRADIENT_RECORDS = {
    **{name: RECORDS[name] for name in ("mnist", "cifar10", "svhn")},
    **{"adult": 32_561, "cora": 1_140},
}
GRADIENT_EPOCHS = {"mnist": 100, "cifar10": 30, "svhn": 60, "adult": 50, "cora": 50}
# Table 1: the numbers of epochs with private features (type II).
FEATURE_EPOCHS = {"mnist": 50, "cifar10": 50, "svhn": 20, "imdb": 10}
# Table 1: (m, n), where n is the number of features, for a batch of m records.
FEATURES = {
    "mnist": (256, 400),
    "cifar10": (256, 512),
    "svhn": (1024, 1024),
    "imdb": (256, 150),
}

SETTINGS = (
    PaperSetting(
        name="imgm2022-features",
        where="Section 5, Table 1, MNIST features",
        query=box_query(FEATURES["mnist"], -1.0, 1.0),
        # The values of epsilon are only in a figure. Features end in tanh, so they lie in [-1, 1].
        budget=Budget(epsilon=1.0, delta=1e-5),
    ),
)
