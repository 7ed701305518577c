"""integers2021: the variance of noise of whole numbers beside that of continuous Gaussian noise."""

from __future__ import annotations

from claims.judged_rows import calibrated, rounded_down, rounded_up
from claims.ledger import Claim, judge
from claims.rules import statement
from claims.verdicts import Finding
from mechanisms import Budget
from paper_figures.suite.stated_noise import query_of, setting_words
from runs.results import Results

GAUSSIAN = "gaussian-analytic"


@judge()
def as_accurate(claim: Claim, results: Results) -> Finding:
    """Whether the noise has at most the continuous Gaussian's variance, up to a tolerance.

    Both are rescaled until their true delta is the budget's.

    Arguments: mechanism; settings, each with `query`, `epsilon`, `delta`. The claim's tolerance is
    how much more variance is still the same.
    """
    a = claim.arguments
    parts, published = [], []
    for setting in a["settings"]:
        ratio = _ratio(a["mechanism"], setting, "exact")
        found = f"{ratio:.4g} times the variance"
        parts.append(statement(setting_words(setting), ratio <= 1 + claim.tolerance, found))
        published.append(_ratio(a["mechanism"], setting, "published"))
    return Finding(
        parts=parts,
        detail=(
            "Ratio of E||noise||^2 to that of analytic Gaussian noise; both are rescaled to the "
            "budget's delta. As published, the whole-number noise follows a bound, and has "
            f"{rounded_down(min(published))} to {rounded_up(max(published))} times the variance."
        ),
        calibration="exact",
    )


def _ratio(key: str, setting: dict, calibration: str) -> float:
    budget = Budget(epsilon=setting["epsilon"], delta=setting["delta"])
    query = query_of(setting["query"])
    own, gaussian = (
        calibrated(name, query, budget, how).expected_loss()
        for name, how in ((key, calibration), (GAUSSIAN, "exact"))
    )
    return own / gaussian
