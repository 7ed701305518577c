"""Audits of any release by its outputs alone: the functions to call from Python."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mechanisms.black_box.forked_work import threads
from mechanisms.black_box.learned_scores import (
    USUAL,
    FixedScore,
    Learner,
    Score,
    distance_score,
    learners_of,
)
from mechanisms.black_box.output_slices import generator
from mechanisms.black_box.output_sources import (
    DrawOutputs,
    Release,
    ReleaseMany,
    check_pair,
    from_batches,
    from_file,
    from_function,
)
from mechanisms.black_box.program_source import TIME_LIMIT, from_program
from mechanisms.black_box.sequential_audit import FEWEST_SAMPLES, SequentialAudit, audit_samples
from mechanisms.check.fresh_noise import find_shared_noise

# Outputs of each value that must repeat, those of a batch whose rows are compared, and how many
# different ones of these do not come again by chance: the probability is below 1e-12.
REPEATED, COMPARED, DISTINCT = 16, 128, 8


class OneProcessOnly(ValueError):
    """The outputs must be drawn in one process; the message says why."""


def audit_release(
    release: Release | ReleaseMany | Sequence[str],
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
    batch: bool = False,
    text: bool = False,
    time_limit: float = TIME_LIMIT,
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
        batch: Whether a function is called as release(value, rng, count), and returns `count`
            independent outputs, one per row.
        text: Whether a program reads and writes lines of numbers, and no .npy files.
        time_limit: Seconds that a call of a program may take, at most 10^6.

    Raises:
        TypeError, ValueError: As `audit_samples`; the values are not such a pair; an output is not
            finite or changes its shape; or the rows of a batch are not independent.
        OneProcessOnly: A ValueError; with several processes, the release does not repeat with an
            equal generator, or starts threads.
    """
    pair = np.array(first), np.array(second)
    check_pair(*pair)
    if processes != 1 and not callable(release):
        raise ValueError(f"a program is run in one process, got processes = {processes}")
    if text and callable(release):
        raise ValueError("text is for a program; a function takes and returns arrays")
    if batch and not callable(release):
        raise ValueError("batch is for a function; a program returns many outputs anyway")
    learners = _learners(score)
    if score is None:
        learners["distance"] = FixedScore(distance_score(*pair))
    if not callable(release):
        draws = tuple(
            from_program(release, value, text=text, time_limit=time_limit) for value in pair
        )
    else:
        source = from_batches if batch else from_function
        draws = tuple(source(release, value) for value in pair)
    if batch:
        for draw, value in zip(draws, pair, strict=True):
            _check_rows(draw, value)
    if processes != 1:
        _check_shared(draws, learners)
    return _audit(
        draws, learners, epsilon, delta, samples, seed, confidence, whole_budget, processes
    )


def _check_rows(draw: DrawOutputs, value: np.ndarray) -> None:
    """Raise ValueError where rows of a batch share what rows of different batches do not."""
    outputs, others = (draw(generator(0, batch), COMPARED) for batch in range(2))
    # By chance the same rows come again where most of them are equal, so not where many differ.
    distinct = len(np.unique(outputs.reshape(COMPARED, -1), axis=0))
    if np.array_equal(outputs, others) and distinct >= DISTINCT:
        raise ValueError(
            f"a batch must be drawn with rng; two generators give the same {COMPARED} outputs, of "
            f"which {distinct} differ"
        )
    # Noise shows its repetitions up to its sign too.
    if outputs.shape[1:] == value.shape:
        outputs, others = outputs - value, others - value
    for sentence in find_shared_noise(outputs, others):
        raise ValueError(f"the rows of a batch must be independent: {sentence}")


def _check_shared(draws: Sequence[DrawOutputs], learners: dict[str, Learner]) -> None:
    """Raise OneProcessOnly where forked processes might not draw what one process would."""
    before = threads()
    for side, draw in enumerate(draws):
        outputs, again = (draw(generator(0, side), REPEATED) for _ in range(2))
        if not np.array_equal(outputs, again):
            raise OneProcessOnly(
                "the release takes one process: called again with an equal rng it returns other "
                "outputs, and forked processes might draw the same ones; it must take all its "
                "random numbers from rng"
            )
        for learner in learners.values():
            if isinstance(learner, FixedScore):
                learner.score()(outputs)
    if threads() > before:
        raise OneProcessOnly(
            "the release takes one process: it or the score starts threads, which a fork loses; if "
            "they are those of linear algebra, OMP_NUM_THREADS=1 avoids them"
        )


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
    (draw_first, (rows, *shape)), (draw_second, (other_rows, *other_shape)) = (
        from_file(first),
        from_file(second),
    )
    if shape != other_shape:
        raise ValueError(
            f"the rows of both files must have one shape, got {tuple(shape)} in {first} and "
            f"{tuple(other_shape)} in {second}"
        )
    if min(rows, other_rows) < FEWEST_SAMPLES:
        raise ValueError(
            f"both files must hold at least {FEWEST_SAMPLES} rows, one output each, got {rows} in "
            f"{first} and {other_rows} in {second}"
        )
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
