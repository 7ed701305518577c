"""bisr2025: the error of the banded inverse square root against other factorisations and bounds."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from mechanisms.factorisations.designs import Design, factorisation
from mechanisms.factorisations.lower_bounds import least_mean_error
from mechanisms.factorisations.participation import Participation
from mechanisms.factorisations.stream_workload import StreamWorkload
from paper_figures.judged_rows import pick, rounded_up
from paper_figures.ledger import CannotJudge, Claim, judge
from paper_figures.results import Results
from paper_figures.rules import universal
from paper_figures.suite.continual_release import EXPERIMENT, errors_of
from paper_figures.verdicts import Finding

PLACE = ["dataset", "steps", "participations"]


@judge(experiments=(EXPERIMENT,))
def error_on_par(claim: Claim, results: Results) -> Finding:
    """The root mean squared error over that of others, everywhere in the study.

    Arguments: mechanism; others.
    """
    a = claim.arguments
    errors = errors_of(pick(results.rows, experiment=EXPERIMENT))
    by_name = errors.set_index([*PLACE, "mechanism"])["mean_error"].unstack("mechanism")
    missing = {a["mechanism"], *a["others"]} - set(by_name)
    if missing:
        raise CannotJudge(f"The results have no errors of {', '.join(sorted(missing))}")
    parts = []
    for other in a["others"]:
        ratios = np.sqrt(by_name[a["mechanism"]] / by_name[other]).dropna()
        found = f"{ratios.min():.3f} to {rounded_up(ratios.max(), 4)} times in {len(ratios)} places"
        cases = (ratios <= 1 + claim.tolerance).tolist()
        parts.append(universal(f"with {other}", cases, found))
    bound = errors.assign(bound=errors["mean_error"] / (1 + errors["optimality_gap"]))
    bound = bound.groupby(PLACE)["bound"].max().dropna()
    above = np.sqrt(by_name[a["mechanism"]].reindex(bound.index) / bound).dropna()
    return Finding(
        parts=parts,
        detail=(
            "Root mean squared errors at equal true privacy, prefix sums and momentum, with 1 to "
            f"{errors['participations'].max()} participations. Where a certified bound is known "
            f"({len(above)} places), it is at most {rounded_up(above.max(), 4)} times that of any "
            "factorisation."
        ),
    )


@judge()
def falling_ratio(claim: Claim, results: Results) -> Finding:
    """Whether the error over its lower bound falls with n. Arguments: steps; participations."""
    a = claim.arguments
    parts, largest = [], 0.0
    for times in a["participations"]:
        ratios = [_over_bound(steps, times) for steps in a["steps"]]
        found = ", ".join(f"{ratio:.3f}" for ratio in ratios)
        falls = [after < before for before, after in pairwise(ratios)]
        parts.append(universal(f"k = {times}", falls, found))
        largest = max(largest, *ratios)
    return Finding(
        parts=parts,
        detail=(
            f"Root mean squared error of prefix sums over a bound in closed form, n = "
            f"{', '.join(map(str, a['steps']))}, with the number of bands of least error: at most "
            f"{rounded_up(largest)} times any factorisation's. The bound is not tight for k > 1."
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
