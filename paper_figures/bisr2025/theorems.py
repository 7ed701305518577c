"""bisr2025: the error of the banded inverse square root against other factorisations and bounds."""

import math

import numpy as np

from claims.comparisons import universal
from claims.judged_rows import pick
from claims.judges import CannotJudge, judge
from claims.verdicts import Finding
from mechanisms.query.words import rounded_up
from mechanisms.strategies.streams.designs import Design, factorisation
from mechanisms.strategies.streams.lower_bounds import least_mean_error
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload
from paper_figures.style import look
from paper_figures.suite.continual_release import STUDY, errors_of
from runs.results import Results

PLACE = ["dataset", "steps", "participations"]


@judge(studies=(STUDY,))
def error_on_par(
    results: Results, *, mechanism: str, others: list[str], tolerance: float
) -> Finding:
    """The root mean squared error over that of others, in the places of the study."""
    errors = errors_of(pick(results.rows, study=STUDY))
    by_name = errors.set_index([*PLACE, "mechanism"])["mean_error"].unstack("mechanism")
    missing = {mechanism, *others} - set(by_name)
    if missing:
        raise CannotJudge(f"The results have no errors of {', '.join(sorted(missing))}")
    parts = []
    for other in others:
        every = np.sqrt(by_name[mechanism] / by_name[other]).dropna()
        for workload, ratios in every.groupby("dataset", sort=False):
            most = rounded_up(ratios.max(), 4)
            found = f"{ratios.min():.3f} to {most} times in {len(ratios)} places"
            cases = (ratios <= 1 + tolerance).tolist()
            parts.append(
                universal(f"with {look(other).title}, {workload.replace('-', ' ')}", cases, found)
            )
    bound = errors.assign(bound=errors["mean_error"] / (1 + errors["optimality_gap"]))
    bound = bound.groupby(PLACE)["bound"].max().dropna()
    above = np.sqrt(by_name[mechanism].reindex(bound.index) / bound).dropna()
    return Finding(
        parts=parts,
        detail=(
            "Root mean squared errors at equal true privacy, "
            f"{errors['steps'].min()} to {errors['steps'].max()} steps, 1 to "
            f"{errors['participations'].max()} participations. Where a certified bound is known "
            f"({len(above)} places), it is at most {rounded_up(above.max(), 4)} times that of any "
            "factorisation."
        ),
    )


@judge
def bounded_ratio(*, steps: list[int], participations: list[int]) -> Finding:
    """The error over a lower bound of every factorisation's.

    No finite n decides what happens in the limit.
    """
    parts = []
    for times in participations:
        ratios = [_over_bound(size, times) for size in steps]
        found = f"{', '.join(f'{ratio:.3f}' for ratio in ratios)} times"
        parts.append(universal(f"k = {times}", [None], found, "finite streams show no limit"))
    return Finding(
        parts=parts,
        detail=(
            f"Root mean squared error of prefix sums over a bound in closed form, n = "
            f"{', '.join(map(str, steps))}, with the number of bands of least error. The "
            "bound is not tight for k > 1, and how loose it is changes with n."
        ),
    )


def _over_bound(steps: int, times: int) -> float:
    workload = StreamWorkload(steps=steps)
    participation = Participation(times=times, separation=steps // times)
    design = Design(
        family="bisr", workload=workload, participation=participation, bands=None, buffers=1
    )
    error = factorisation(design).error(workload, participation).mean
    return math.sqrt(error / least_mean_error(steps, times))
