"""tldp2025: its query, its budget and the expected errors that it states (Table 5)."""

from __future__ import annotations

import math

from mechanisms import Budget, get_mechanism
from papers.box_query import box_query
from papers.paper_setting import PaperSetting

SETTINGS = (
    PaperSetting(
        name="tldp2025-mnist",
        where="Section 6, type I, MNIST",
        query=box_query((28, 28), 0.0, 1.0),
        budget=Budget(epsilon=1.0),
        choice="one value of epsilon out of the figure's grid",
    ),
)


def stated_errors(shape: tuple[int, int], epsilon: float, width: float) -> dict[str, float]:
    """E||Z||_2 of the noise on one I_1 x I_2 tensor as Table 5 has it, by mechanism.

    width: Delta. p is that of TLDP's own calibration. The paper drops delta from the entries of
    MVG and IDN.
    """
    count = math.prod(shape)
    root = math.sqrt(count)
    half = width / (math.sqrt(2) * epsilon)
    query, budget = box_query(shape, -width / 2, width / 2), Budget(epsilon=epsilon)
    log_p = {
        key: get_mechanism(key).calibrate(query, budget).parameters()["log_p"]
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
