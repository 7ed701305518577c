"""Draws from the matrix Bingham distribution: V (d, k) orthonormal, density ~ exp(tr(V^T M V)).

M is diagonal here; the caller diagonalises M and rotates V back.

The Gibbs sampler rotates rows. Rotating rows r_i and r_j of V by an angle t keeps V orthonormal and
the uniform measure invariant. With P = |r_i|^2, Q = |r_j|^2 and D = r_i . r_j

    tr(V^T M V) = const + (m_i - m_j) ((P - Q) / 2 cos 2t - D sin 2t),

so 2t follows a von Mises distribution and is drawn exactly. Disjoint pairs of rows are rotated
together, in all chains at once.
"""

import math

import numpy as np

CHAINS = 4
# Split R-hat below which chains count as converged (Vehtari et al. 2021).
CONVERGED = 1.01
# If all m_i are equal, tr(V^T M V) is constant and R-hat shows nothing; rotating random pairs then
# forgets any start within 60 sweeps.
LEAST_SWEEPS = 128
MOST_SWEEPS = 1 << 15


def sample_bingham(
    exponents: np.ndarray, components: int, rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, dict[str, float]]:
    """Draw V of density ~ exp(tr(V^T diag(exponents) V)), each up to V -> V Q with Q orthogonal.

    There is one chain per draw, and at least four. Every other chain starts at the mode, the rest
    at a uniform V. The number of sweeps doubles until the split R-hat of tr(V^T M V) over the
    second half of every chain is below 1.01, or until 32,768 sweeps are done. A draw is the last
    state of a chain that is chosen at random. If k = d, every draw is the identity.

    Args:
        exponents: (d,) diagonal of M, in decreasing order.
        components: k <= d.
        draws: Number of independent draws, at least 1.

    Returns:
        The draws (draws, d, k), and the diagnostics {"r_hat", "sweeps"}. An r_hat of 1.01 or more
        says that the chains had not converged at the limit.
    """
    size = len(exponents)
    if components == size:
        return np.broadcast_to(np.eye(size), (draws, size, size)), {"r_hat": 1.0, "sweeps": 0.0}
    chains = max(CHAINS, draws)
    # The axis of rows comes first, so that a row of all chains is gathered in one piece.
    state = np.empty((size, chains, components))
    uniform, _ = np.linalg.qr(rng.standard_normal((chains // 2, size, components)))
    state[:, 0::2] = np.eye(size, components)[:, None]
    state[:, 1::2] = uniform.swapaxes(0, 1)
    exponents = exponents - exponents.mean()
    trace = np.empty((0, chains))
    sweeps = LEAST_SWEEPS
    while True:
        more = [_sweep(state, exponents, rng) for _ in range(sweeps - len(trace))]
        trace = np.concatenate([trace, more])
        r_hat = split_r_hat(trace[sweeps // 2 :])
        if r_hat < CONVERGED or sweeps >= MOST_SWEEPS:
            break
        sweeps *= 2
    chosen = rng.choice(chains, draws, replace=False)
    # Rotations keep V orthonormal up to rounding, which QR removes.
    drawn, _ = np.linalg.qr(state[:, chosen].swapaxes(0, 1))
    return drawn, {"r_hat": r_hat, "sweeps": float(sweeps)}


def _sweep(state: np.ndarray, exponents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rotate pairs of rows in place and return tr(V^T M V) of every chain, (chains,).

    The first pairs are random pairs of all rows. They alone would exchange little between the k
    leading rows, which hold most of V, and the others. So each other row is then paired once with
    a leading row.
    """
    size, leaders = len(exponents), state.shape[2]
    order = rng.permutation(size)
    half = size // 2
    _turn(state, exponents, order[:half], order[half : 2 * half], rng)
    leading, others = rng.permutation(leaders), leaders + rng.permutation(size - leaders)
    for start in range(0, len(others), leaders):
        led = others[start : start + leaders]
        _turn(state, exponents, leading[: len(led)], led, rng)
    return exponents @ np.vecdot(state, state)


def _turn(
    state: np.ndarray,
    exponents: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Rotate every pair of rows (first[l], second[l]) in place, by an angle drawn given V."""
    a, b = state[first], state[second]
    gap = (exponents[first] - exponents[second])[:, None]
    cosine = 0.5 * gap * (np.vecdot(a, a) - np.vecdot(b, b))
    sine = -gap * np.vecdot(a, b)
    angle = 0.5 * rng.vonmises(np.arctan2(sine, cosine), np.hypot(cosine, sine))
    c, s = np.cos(angle)[..., None], np.sin(angle)[..., None]
    state[first], state[second] = c * a - s * b, s * a + c * b


def split_r_hat(trace: np.ndarray) -> float:
    """Return the potential scale reduction of half chains (Gelman et al. 2013, Section 11.4).

    trace: (sweeps, chains), with at least 4 sweeps. The result is 1 if all values are equal.
    """
    half = len(trace) // 2
    parts = np.concatenate([trace[:half], trace[-half:]], axis=1)
    within = parts.var(axis=0, ddof=1).mean()
    between = parts.mean(axis=0).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else math.inf
    return math.sqrt((half - 1) / half + between / within)
