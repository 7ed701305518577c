"""A linear support vector machine with squared hinge loss, by Newton's method."""

from __future__ import annotations

import numpy as np

_MOST_STEPS = 100


def fit(features: np.ndarray, labels: np.ndarray, penalty: float = 1.0) -> np.ndarray:
    """The weights w (k + 1,) that minimise |w|^2 / 2 + penalty sum_i max(0, 1 - y_i w.(x_i, 1))^2.

    The intercept is the last weight, of a feature that is always 1, and is penalised like the rest,
    as liblinear does it. The minimum is unique and the function piecewise quadratic: Newton's
    method with halved steps ends (Keerthi and DeCoste 2005); no random numbers.

    Args:
        features: (n, k), finite.
        labels: (n,), 1 or 0.
        penalty: C > 0.

    Raises:
        ArithmeticError: Not at the minimum after 100 steps.
    """
    points = np.column_stack([features, np.ones(len(features))]) * (2 * labels - 1)[:, None]

    def objective(weights: np.ndarray) -> float:
        lacking = np.maximum(1 - points @ weights, 0)
        return 0.5 * weights @ weights + penalty * lacking @ lacking

    weights = np.zeros(points.shape[1])
    value = objective(weights)
    for _ in range(_MOST_STEPS):
        lacking = 1 - points @ weights
        active = points[lacking > 0]
        gradient = weights - 2 * penalty * lacking[lacking > 0] @ active
        curvature = np.eye(len(weights)) + 2 * penalty * active.T @ active
        step = np.linalg.solve(curvature, gradient)
        promised = gradient @ step
        if promised <= 1e-12 * value:
            return weights
        length = 1.0
        while objective(weights - length * step) > value - 0.25 * length * promised:
            length /= 2
        weights = weights - length * step
        value = objective(weights)
    raise ArithmeticError(f"the support vector machine did not end in {_MOST_STEPS} steps")


def accuracy(weights: np.ndarray, features: np.ndarray, labels: np.ndarray) -> float:
    """The share of records on the side of their label, 1 or 0."""
    return float(np.mean((features @ weights[:-1] + weights[-1] > 0) == (labels == 1)))
