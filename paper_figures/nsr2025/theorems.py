"""nsr2025: the least error of prefix sums, by the certified optimum and by singular values."""

import numpy as np

from claims.comparisons import universal
from claims.judged_rows import pick
from claims.judges import CannotJudge, judge
from claims.verdicts import Finding
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.words import rounded_up
from mechanisms.strategies.streams.lower_bounds import least_mean_error
from paper_figures.suite.continual_release import STUDY, errors_of
from runs.results import Results

LARGEST_POWER = 20


@judge(studies=(STUDY,))
def least_root_error(
    results: Results, *, mechanism: str, lower: float, upper: float, least_steps: int
) -> Finding:
    """The least root mean squared error less ln(n) / pi, at mu = 1."""
    own = pick(
        results.rows,
        study=STUDY,
        dataset="prefix-sums",
        mechanism=mechanism,
        participations=1,
    )
    budgets = own[["epsilon", "delta"]].drop_duplicates()
    epsilon, delta = budgets.iloc[0]
    errors = errors_of(own[(own["epsilon"] == epsilon) & (own["delta"] == delta)])
    errors = errors.sort_values("steps", kind="stable").set_index("steps")
    if errors.index[-1] < least_steps:
        raise CannotJudge(f"The results have no errors of {least_steps} steps or more")
    root = float(mu_for(epsilon, delta)) * np.sqrt(errors["mean_error"])
    least = root / np.sqrt(1 + errors["optimality_gap"])
    logs = np.log(errors.index.to_numpy(float)) / np.pi
    above, below = root - logs, least - logs
    large = errors.index >= least_steps
    bounds = [
        np.sqrt(least_mean_error(1 << power, 1)) - power * np.log(2) / np.pi
        for power in range(1, LARGEST_POWER + 1)
    ]
    shown = ", ".join(f"{value:.4f} (n = {steps})" for steps, value in above.items())
    return Finding(
        parts=[
            universal(
                f"above {lower:g}",
                [*(below > lower), *(bound > lower for bound in bounds)],
                f"by singular values {bounds[-1]:.4f} at n = 2^{LARGEST_POWER}",
            ),
            universal(f"below {upper:g}", (above < upper)[large].tolist(), shown),
            universal("falls with n", (np.diff(above) < 0).tolist()),
        ],
        detail=(
            "The optimum of the study at one participation, whose dual certifies it to "
            f"{rounded_up(errors['optimality_gap'].max(), 2)} (relative, of the squared error)."
        ),
        calibration="published",
    )
