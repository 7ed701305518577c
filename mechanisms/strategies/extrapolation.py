"""Anderson's extrapolation of a fixed-point iteration."""

import numpy as np


def extrapolated(
    points: list[np.ndarray], moves: list[np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """The next point: Anderson's combination of the last ones, in the weighted l2 norm.

    It takes the affine combination of the points whose combined move is least (Walker and Ni
    2011); with one point, that point and its move.
    """
    following = points[-1] + moves[-1]
    if len(points) == 1:
        return following
    bends = np.diff(moves, axis=0).T
    share = np.linalg.lstsq(bends * weights[:, None], moves[-1] * weights, rcond=1e-8)[0]
    return following - (np.diff(points, axis=0).T + bends) @ share
