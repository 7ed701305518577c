"""tldp2025 (Yuan et al., arXiv:2502.18227): its query, its budget and its stated numbers."""

import math

from mechanisms import Budget, get_mechanism
from mechanisms.query.box_query import box_query
from papers.setting import PaperSetting

# Section 5.1: the numbers of training records.
RECORDS = {
    "mnist": 60_000,
    "cifar10": 50_000,
    "svhn": 73_257,
    "imdb": 25_000,
    "darknet2020": 113_184,
}
# Table 4: the networks. The paper links to MobileNetV2.
NETWORKS = {
    **dict.fromkeys(("mnist", "cifar10", "svhn"), "MobileNetV2"),
    "imdb": "BiLSTM",
    "darknet2020": "MLP",
}
# Section 5.1: more on the networks. With ten classes, MobileNetV2 has 2.2 million parameters.
DETAILED_NETWORKS = NETWORKS | {
    **dict.fromkeys(("mnist", "cifar10", "svhn"), "MobileNetV2, 2.2 million, pre-trained"),
    "imdb": "BiLSTM, 2 layers of 256",
}
# Sections 5.1 and 5.2.3: the epochs of training. In each, private parameters are sent once.
ROUNDS = {"mnist": 10, "cifar10": 10, "svhn": 10, "imdb": 50, "darknet2020": 25}
# The ranges of an element. Pixels are scaled to [0, 1] here, and to (-1, 1) in eq. (17); the noise
# relative to the range is the same. Features end in tanh (eq. 18).
PIXELS = (0.0, 1.0)
FEATURES = (-1.0, 1.0)
# Delta, the width of the range of an element, as Tables 2 to 4 state it. It is the number of grey
# values of a pixel, even for features and parameters. Table 4 has another value for IMDB.
STATED_DELTA = 256
STATED_DELTA_IMDB = 400_001
# F1 scores that the text states as "about". Figure 1: TLDP on protected images, at epsilon below 1
# or in the end. Figure 2: TLDP on protected features, at most or in the end. Figure 3, protected
# parameters on IMDB: "tldp" is TLDP and LLAGP; "others" are Laplace, Gaussian, MVG and IDN.
STATED_F1_IMAGES = {"mnist": 0.9, "svhn": 0.9, "cifar10": 0.7}
STATED_F1_FEATURES = {"mnist": 0.8, "cifar10": 0.4, "svhn": 0.4}
STATED_F1_IMDB = {"tldp": 0.8, "others": 0.4}
# Section 5.3.3: the epsilon above which results become comparable in Figure 3.
COMPARABLE_ABOVE = 100
# C, the clip value of Table 4: parameters lie in [-C, C].
CLIP = 1.0

SETTINGS = (
    PaperSetting(
        name="tldp2025-mnist",
        where="Section 5.2.1, type I, MNIST",
        query=box_query((28, 28), *PIXELS),
        # The figure shows this epsilon, among others.
        budget=Budget(epsilon=1.0),
    ),
)


def stated_delta(dataset: str) -> int:
    """Return Delta as Table 4 states it for a data set, given our key of the data set."""
    return STATED_DELTA_IMDB if dataset == "imdb" else STATED_DELTA


def gaussian_variance(count: int, epsilon: float, width: float) -> float:
    """Return sigma_1^2 = I Delta^2 / (2 epsilon) of the paper's Gaussian mechanism (eq. 7).

    The formula has no delta.

    Args:
        count: I, the number of elements.
        epsilon: The epsilon of the whole tensor.
        width: Delta, the width of the range of an element.
    """
    return count * width**2 / (2 * epsilon)


def stated_errors(shape: tuple[int, int], epsilon: float, width: float) -> dict[str, float]:
    """Return E||Z||_2 of the noise Z of an I_1 x I_2 tensor as Table 5 states it, by mechanism.

    The entries of MVG and IDN have no delta, because the paper drops it. In the entries of TLDP, p
    is that of the published calibration.

    Args:
        shape: (I_1, I_2).
        epsilon: The epsilon of the whole tensor.
        width: Delta, the width of the range of an element.
    """
    count = math.prod(shape)
    root = math.sqrt(count)
    half = width / (math.sqrt(2) * epsilon)
    query, budget = box_query(shape, -width / 2, width / 2), Budget(epsilon=epsilon)
    log_p = {
        key: get_mechanism(key).calibrate_only(query, budget).parameters()["log_p"]
        for key in ("tldp-l", "tldp-g")
    }
    noisy = {key: -math.expm1(value) * count for key, value in log_p.items()}
    return {
        "laplace": width / epsilon * count * math.sqrt(2 * count),
        "gaussian": width / (2 * epsilon) * count * root,
        "mvg": half * shape[0] * count * root * math.log(shape[0] + 1) ** 2,
        "idn": half * count * root,
        "tldp-l": width / epsilon * math.sqrt(2 * noisy["tldp-l"]),
        "tldp-g": width / (2 * epsilon) * math.sqrt(noisy["tldp-g"]),
    }
