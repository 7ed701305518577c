"""The expected errors that tldp2025 states (Table 5), and the query that they are stated for."""

from __future__ import annotations

import math

from mechanisms import Budget, Query, get_mechanism


def tensor_query(shape: tuple[int, ...], width: float) -> Query:
    """Any tensor with elements in a range of this width may become any other."""
    count = math.prod(shape)
    return Query(
        shape=shape,
        l2_sensitivity=width * math.sqrt(count),
        l1_sensitivity=width * count,
        element_range=(-width / 2, width / 2),
        frobenius_bound=width / 2 * math.sqrt(count),
        adjacency="local",
    )


def stated_errors(shape: tuple[int, int], epsilon: float, width: float) -> dict[str, float]:
    """E||Z||_2 of the noise on one I_1 x I_2 tensor as Table 5 has it, by mechanism.

    width: Delta. p is that of TLDP's own calibration. The paper drops delta from the entries of
    MVG and IDN.
    """
    count = math.prod(shape)
    root = math.sqrt(count)
    half = width / (math.sqrt(2) * epsilon)
    query, budget = tensor_query(shape, width), Budget(epsilon=epsilon)
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
