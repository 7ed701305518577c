"""Audits of any release by its outputs alone: the functions to call from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mechanisms.audit.learned_scores import (
    USUAL,
    FixedScore,
    Learner,
    Score,
    distance_score,
    learners_of,
)
from mechanisms.audit.output_sources import (
    DrawOutputs,
    Release,
    check_pair,
    from_file,
    from_function,
    from_program,
)
from mechanisms.audit.sequential_audit import SequentialAudit, audit_samples


def audit_release(
    release: Release | Sequence[str],
    first: np.ndarray,
    second: np.ndarray,
    epsilon: float,
    delta: float = 0.0,
    *,
    score: Score | str | None = None,
    samples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.999,
    whole_budget: bool = False,
    processes: int = 1,
    text: bool = False,
) -> SequentialAudit:
    """Test a release's claim of (epsilon, delta)-differential privacy on a pair of values.

    It can be refuted, never proven: another pair or another score may show more.

    Args:
        release: A function, called as release(value, rng) for one output: finite numbers of one
            shape, drawn with `rng` alone; `value` is read-only. Or a program, as the words of its
            command: see `output_sources.from_program`.
        first, second: The two values, answers for two neighbouring data sets: different ones, of
            one shape and of finite numbers.
        epsilon, delta: The claim.
        score: A function of outputs (n, *shape), larger where they seem to come from `first`, such
            as an exact log-likelihood ratio (`learned_scores.density_score`); or a name of
            `learned_scores.SCORES`. By default those of `learned_scores.USUAL` and the distances
            to both values are tried, and the one that distinguishes best is used.
        samples: The most outputs for each value.
        seed, confidence, whole_budget, processes: See `audit_samples`. A program takes one process.
        text: Whether a program reads and writes lines of numbers, and no .npy files.

    Raises:
        TypeError, ValueError: As `audit_samples`; the values are not such a pair; or an output is
            not finite or changes its shape.
    """
    pair = np.array(first), np.array(second)
    check_pair(*pair)
    if processes != 1 and not callable(release):
        raise ValueError(f"a program is run in one process, got processes = {processes}")
    if text and callable(release):
        raise ValueError("text is for a program; a function takes and returns arrays")
    learners = _learners(score)
    if score is None:
        learners["distance"] = FixedScore(distance_score(*pair))
    return _audit(
        tuple(
            from_function(release, value)
            if callable(release)
            else from_program(release, value, text=text)
            for value in pair
        ),
        learners, epsilon, delta, samples, seed, confidence, whole_budget, processes,
    )  # fmt: skip


def audit_files(
    first: str | Path,
    second: str | Path,
    epsilon: float,
    delta: float = 0.0,
    *,
    score: Score | str | None = None,
    samples: int | None = None,
    confidence: float = 0.999,
    whole_budget: bool = False,
) -> SequentialAudit:
    """As `audit_release`, for outputs that lie in two .npy files, one independent output per row.

    Rows are used in their order. samples: by default as many as the shorter file holds.
    """
    (draw_first, rows), (draw_second, other_rows) = from_file(first), from_file(second)
    most = min(rows, other_rows) if samples is None else samples
    return _audit(
        (draw_first, draw_second),
        _learners(score), epsilon, delta, most, 0, confidence, whole_budget, 1,
    )  # fmt: skip


def _learners(score: Score | str | None) -> dict[str, Learner]:
    if callable(score):
        return {getattr(score, "__name__", "score"): FixedScore(score)}
    return learners_of(USUAL if score is None else (score,))


def _audit(
    draws: tuple[DrawOutputs, DrawOutputs],
    learners: dict[str, Learner],
    epsilon: float,
    delta: float,
    samples: int,
    seed: int,
    confidence: float,
    whole_budget: bool,
    processes: int,
) -> SequentialAudit:
    return audit_samples(
        draws,
        learners,
        epsilon,
        delta,
        samples=samples,
        seed=seed,
        confidence=confidence,
        whole_budget=whole_budget,
        processes=processes,
    )
