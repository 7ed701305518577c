"""Is the claim true? Claimed and true privacy of every mechanism.

There are two data sets:

papers
    The settings of the papers, from papers/settings.py. Each gets delta and epsilon by the privacy
    profile, a sampled audit of the worst pair if the config asks for it and the pair is known, and
    a verdict.
grid
    The unit-sensitivity query of noise_only over sizes M and epsilon. It shows where each claim
    holds, and how large the noise is as published and at the exact calibration.
"""

import contextlib
from collections.abc import Iterator

import numpy as np
from pydantic import Field

from mechanisms import (
    AdditiveMechanism,
    Inconsistent,
    Mechanism,
    Unsupported,
    distance_to_no_data,
)
from mechanisms.check.audit_statistics import familywise_confidence
from mechanisms.privacy.profile import Bounds
from mechanisms.verification.verification import verify
from papers.setting import PaperSetting
from papers.settings import PAPER_SETTINGS
from studies.base import (
    LARGEST_COUNT,
    Case,
    Coordinate,
    Disallowed,
    Distinct,
    EpsilonGrid,
    Metric,
    Point,
    Shape,
    Study,
    Value,
    Whole,
)
from studies.noise_only import family_query

VERDICT = Coordinate("verdict", str, "on the claim: holds, loose, refuted or undecided")
# All audits of a run are correct at once with this confidence. It is shared by a fixed number of
# audits, so that adding a mechanism does not change the bounds of the others.
CONFIDENCE, AUDITS = 0.999, 2000
# The settings of the papers by their points; no two share shape, epsilon and delta.
SETTINGS_AT: dict[Point, PaperSetting] = {
    Point.at(setting.query.shape, setting.budget): setting for setting in PAPER_SETTINGS
}


class Settings(EpsilonGrid):
    """Settings of this study."""

    sizes: Distinct[Shape] = Field(description="shapes of grid")
    audit_samples: Whole = Field(
        0, ge=0, le=LARGEST_COUNT, description="draws of each side in an audit of papers; 0: none"
    )

    def check(self) -> None:
        """Raise Disallowed if a run has more audits than the confidence is divided among."""
        cells = len(self.mechanisms) * len(self.calibrations)
        if self.audit_samples and cells * len(PAPER_SETTINGS) > AUDITS:
            most = AUDITS // len(PAPER_SETTINGS)
            allowed = f"0 where mechanisms times calibrations exceed {most}, as here with {cells}"
            raise Disallowed("audit_samples", allowed, self.audit_samples)


class Guarantee(Study):
    """The study of this module."""

    name = "guarantee"
    paper = "suite"
    datasets = {"papers": "none", "grid": "none"}
    coordinates = (VERDICT,)
    Settings = Settings
    metrics = (
        Metric(
            "claimed_delta", "delta that the mechanism claims at epsilon; its row has the verdict"
        ),
        Metric("true_delta", "true delta at epsilon"),
        Metric("true_delta_lower", "lower bound on the true delta at epsilon"),
        Metric("true_delta_upper", "upper bound on the true delta at epsilon"),
        Metric("true_epsilon", "true epsilon at the claimed delta, where it is finite"),
        Metric(
            "noise_scale",
            "first parameter of the noise: a scale in units of the query, of R1SMG the variance "
            "sigma*",
        ),
        Metric("expected_loss", "E||noise||^2 in closed form, in squared units of the query"),
        Metric(
            "wasted_variance",
            "variance over the least variance at which the same noise keeps the claim",
        ),
        Metric(
            "distance_to_no_data",
            "upper bound on the total variation between any release and noise around one value",
        ),
        Metric("audit_delta_lower", "sampled lower bound on the true delta at epsilon"),
        Metric("audit_delta_upper", "sampled upper bound on the true delta at epsilon"),
    )

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the papers' settings, or the grid over sizes and epsilon."""
        if dataset == "grid":
            return settings.points_over(settings.sizes, variant, dataset)
        return list(SETTINGS_AT)

    def measure(self, problem: None, case: Case, point: Point) -> Iterator[Value]:
        """Yield claimed and true delta, true epsilon, the verdict, the audit and the cost.

        On the grid, yield only the true delta and the expected loss.

        Raises:
            Unsupported: The mechanism claims no privacy, has no profile, or refuses the query or
                the budget.
            Inconsistent: The audit contradicts the profile.
        """
        if case.dataset == "grid":
            yield from _on_grid(
                case.calibrate(family_query("fixed-sensitivity", point.shape), point.budget)
            )
            return
        setting = SETTINGS_AT[point]
        seed = case.seed(point, "audit")
        mechanism = case.calibrate(setting.query, setting.budget)
        result = verify(
            mechanism,
            samples=case.settings.audit_samples,
            seed=seed,
            confidence=familywise_confidence(CONFIDENCE, AUDITS),
            # No check here: calibration has already checked the mechanism.
            effort=None,
        )
        if result.contradiction is not None:
            raise Inconsistent(result.contradiction)
        yield Value("claimed_delta", result.claimed_delta, at={"verdict": result.verdict})
        yield from _true_delta(result.true_delta)
        if np.isfinite(result.true_epsilon.value):
            yield Value("true_epsilon", result.true_epsilon.value)
        for metric in ("noise_scale", "expected_loss", "wasted_variance"):
            value = getattr(result, metric)
            if value is not None:
                yield Value(metric, value)
        with contextlib.suppress(Unsupported):
            yield Value("distance_to_no_data", distance_to_no_data(mechanism))
        if result.audit is not None:
            yield Value("audit_delta_lower", result.audit.delta_lower, seed=seed)
            yield Value("audit_delta_upper", result.audit.delta_upper, seed=seed)


def _on_grid(mechanism: Mechanism) -> Iterator[Value]:
    profile = mechanism.profile()
    if profile is None:
        raise Unsupported("has no exact profile")
    yield from _true_delta(profile.delta(mechanism.budget.epsilon))
    if isinstance(mechanism, AdditiveMechanism):
        yield Value("expected_loss", mechanism.expected_loss())


def _true_delta(bounds: Bounds) -> Iterator[Value]:
    yield Value("true_delta", bounds.value)
    yield Value("true_delta_lower", bounds.lower)
    yield Value("true_delta_upper", bounds.upper)
