"""The budget (epsilon / q, delta / q) of a batch in imgm2022, and what it truly spends."""

from __future__ import annotations

import math

from claims.judged_rows import listed
from claims.ledger import Claim, judge
from claims.rules import universal
from claims.verdicts import Finding, Outcome, Part
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from paper_figures.style import dataset_title
from runs.results import Results


@judge()
def amplified_budget(claim: Claim, results: Results) -> Finding:
    """Whether noise for (epsilon / q, delta / q) on a batch is (epsilon, delta)-DP for the data.

    IMGM's noise for a budget has exactly that budget (imgm-thm2): its profile is a Gaussian's. If
    every record is released in one of the batches, the whole release has this profile. If a batch
    is a secret Poisson sample at rate q, and a record is in it or not, then
    delta(epsilon) = q delta'(ln(1 + (e^epsilon - 1) / q)) exactly, with delta' of the profile.

    Arguments: batch; records by data set; epsilons; delta; shown, the epsilon whose true value is
    reported; readings, the words for "released" and "sampled".
    """
    a = claim.arguments
    true_delta = {
        "released": lambda profile, epsilon, rate: profile.delta(epsilon).value,
        "sampled": lambda profile, epsilon, rate: sampled_delta(profile, epsilon, rate),
    }

    def part(reading: str, dataset: str, records: int) -> Part:
        rate, delta = a["batch"] / records, a["delta"]
        spent = {}
        for epsilon in a["epsilons"]:
            profile = GaussianProfile(mu=float(mu_for(epsilon / rate, delta / rate)))
            spent[epsilon] = true_delta[reading](profile, epsilon, rate)
        return universal(
            dataset_title(dataset),
            (found <= delta * (1 + claim.tolerance) for found in spent.values()),
            f"a claimed delta of {delta:g} is {listed(f'{d:.2g}' for d in spent.values())}",
        )

    readings = {
        words: tuple(part(reading, *each) for each in a["records"].items())
        for reading, words in a["readings"].items()
    }
    return Finding(
        choice="whether a batch is a secret sample",
        outcomes=[Outcome(choice=words, parts=parts) for words, parts in readings.items()],
        detail=(
            f"IMGM at (epsilon / q, delta / q), q = {a['batch']} / N, at the claimed epsilon "
            f"{listed(f'{e:g}' for e in a['epsilons'])}. As all records are released, a claimed "
            f"epsilon of {a['shown']:g} is truly {listed(_true_epsilons(a))} at delta "
            f"{a['delta']:g}. Sampling at rate q turns epsilon' into ln(1 + q (e^epsilon' - 1)), "
            "which at epsilon' = epsilon / q is above epsilon for every q < 1."
        ),
        calibration="published",
    )


def sampled_delta(profile: GaussianProfile, epsilon: float, rate: float) -> float:
    """The exact delta at epsilon of a release on a Poisson sample that may lack one record."""
    return rate * profile.delta(math.log1p(math.expm1(epsilon) / rate)).value


def _true_epsilons(arguments: dict) -> list[str]:
    """The true epsilon of a release of all records on each data set, as text."""
    found = []
    for dataset, records in arguments["records"].items():
        rate = arguments["batch"] / records
        profile = GaussianProfile(
            mu=float(mu_for(arguments["shown"] / rate, arguments["delta"] / rate))
        )
        found.append(f"{profile.epsilon(arguments['delta']).value:.3g} on {dataset_title(dataset)}")
    return found
