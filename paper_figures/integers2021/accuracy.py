"""integers2021: the variance of noise of whole numbers beside that of continuous Gaussian noise."""

from claims.comparisons import statement
from claims.judges import judge
from claims.stated_noise import Setting
from claims.verdicts import Finding
from mechanisms.query.words import rounded_down, rounded_up

GAUSSIAN = "gaussian-analytic"


@judge
def as_accurate(*, mechanism: str, settings: list[Setting], tolerance: float) -> Finding:
    """Whether the noise has at most the continuous Gaussian's variance, up to a tolerance.

    Both are rescaled until their true delta is the budget's.
    """
    parts, published = [], []
    for setting in settings:
        ratio = _ratio(mechanism, setting, "exact")
        found = f"{ratio:.4g} times the variance"
        parts.append(statement(str(setting), ratio <= 1 + tolerance, found))
        published.append(_ratio(mechanism, setting, "published"))
    return Finding(
        parts=parts,
        detail=(
            "Ratio of E||noise||^2 to that of analytic Gaussian noise; both are rescaled to the "
            "budget's delta. As published, the whole-number noise follows a bound, and has "
            f"{rounded_down(min(published))} to {rounded_up(max(published))} times the variance."
        ),
        calibration="exact",
    )


def _ratio(key: str, setting: Setting, calibration: str) -> float:
    return setting.loss(key, calibration) / setting.loss(GAUSSIAN, "exact")
