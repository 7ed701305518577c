"""The budget (epsilon / q, delta / q) of a batch in imgm2022, and what it truly spends."""

import math
from typing import Literal

from claims.comparisons import universal
from claims.judged_rows import listed
from claims.judges import Count, Delta, Epsilon, judge
from claims.verdicts import Finding, Outcome, Part
from datasets.titles import dataset_title
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for


@judge
def amplified_budget(
    *,
    batch: Count,
    records: dict[str, int],
    epsilons: list[Epsilon],
    delta: Delta,
    shown: Epsilon,
    readings: dict[Literal["released", "sampled"], str],
    tolerance: float,
) -> Finding:
    """Whether noise for (epsilon / q, delta / q) on a batch is (epsilon, delta)-DP for the data.

    IMGM's noise for a budget has exactly that budget (imgm-thm2): its profile is a Gaussian's. If
    every record is released in one of the batches, the whole release has this profile. If a batch
    is a secret Poisson sample at rate q, and a record is in it or not, then delta(epsilon) = q
    delta'(ln(1 + (e^epsilon - 1) / q)) exactly, with delta' of the profile.
    """
    true_delta = {
        "released": lambda profile, epsilon, rate: profile.delta(epsilon).value,
        "sampled": lambda profile, epsilon, rate: sampled_delta(profile, epsilon, rate),
    }

    def part(reading: str, dataset: str, size: int) -> Part:
        rate = batch / size
        spent = {}
        for epsilon in epsilons:
            profile = GaussianProfile(mu=float(mu_for(epsilon / rate, delta / rate)))
            spent[epsilon] = true_delta[reading](profile, epsilon, rate)
        return universal(
            dataset_title(dataset),
            (true <= delta * (1 + tolerance) for true in spent.values()),
            f"a claimed delta of {delta:g} is {listed(f'{d:.2g}' for d in spent.values())}",
        )

    outcomes = [
        Outcome(choice=words, parts=tuple(part(reading, *each) for each in records.items()))
        for reading, words in readings.items()
    ]
    return Finding(
        choice="whether a batch is a secret sample",
        outcomes=outcomes,
        detail=(
            f"IMGM at (epsilon / q, delta / q), q = {batch} / N, at the claimed epsilon "
            f"{listed(f'{e:g}' for e in epsilons)}. As all records are released, a claimed "
            f"epsilon of {shown:g} is truly "
            f"{listed(_true_epsilons(batch, records, shown, delta))} at delta {delta:g}. "
            "Sampling at rate q turns epsilon' into ln(1 + q (e^epsilon' - 1)), "
            "which at epsilon' = epsilon / q is above epsilon for every q < 1."
        ),
        calibration="published",
    )


def sampled_delta(profile: GaussianProfile, epsilon: float, rate: float) -> float:
    """The exact delta at epsilon of a release on a Poisson sample that may lack one record."""
    return rate * profile.delta(math.log1p(math.expm1(epsilon) / rate)).value


def _true_epsilons(batch: int, records: dict[str, int], epsilon: float, delta: float) -> list[str]:
    """The true epsilon of a release of all records on each data set, as text."""
    words = []
    for dataset, size in records.items():
        rate = batch / size
        profile = GaussianProfile(mu=float(mu_for(epsilon / rate, delta / rate)))
        words.append(f"{profile.epsilon(delta).value:.3g} on {dataset_title(dataset)}")
    return words
