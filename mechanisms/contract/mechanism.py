"""The contract of a mechanism, and the additive kind that nearly all of them are."""

from __future__ import annotations

import difflib
import types
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from mechanisms.contract.option import Option
from mechanisms.contract.query import (
    Budget,
    OutOfRangeWarning,
    Query,
    Unsupported,
)
from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.profiles.profile import PrivacyProfile

CALIBRATIONS = ("published", "exact")
GUARANTEES = ("pure", "approximate", "local", "none")


@dataclass(frozen=True, kw_only=True, eq=False)
class Mechanism(ABC):
    """A mechanism calibrated to one query and one budget. Create it with `calibrate`; immutable.

    Class attributes that a subclass sets:
        key: Name in configs, tables and figures.
        title: Name in text.
        paper: Key of the paper, or a reference.
        theorem: The statement that claims the guarantee.
        guarantee: The claim: "pure", "approximate", "local" or "none".
        options: Its options by name.
        public_information: Which options take public side information: name -> kind, see
            mechanisms/contract/public_information.py. Such options must not depend on private
            records.
    """

    query: Query
    budget: Budget
    calibration: str = "published"
    settings: Mapping[str, Any] = field(default_factory=dict)

    key: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    theorem: ClassVar[str]
    guarantee: ClassVar[str]
    options: ClassVar[dict[str, Option]] = {}
    public_information: ClassVar[dict[str, str]] = {}

    @classmethod
    def calibrate(
        cls, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> Self:
        """Choose the noise for a query and a budget.

        Args:
            query: Shape and sensitivities.
            budget: The (epsilon, delta) to reach.
            calibration: "published" follows the paper; "exact" rescales that noise until the true
                delta at epsilon is the budget's. Where delta is computed with bounds that are wider
                than rounding (Laplace noise on several elements), their upper end is the budget's
                delta: the true one is up to 1% less.
            **options: See `cls.options`.

        Raises:
            Unsupported: The mechanism cannot serve this query or budget, with the reason.
            TypeError, ValueError: A bad calibration or option.

        Warns:
            OutOfRangeWarning: The budget lies outside the range of the mechanism's theorem.
        """
        if not isinstance(query, Query) or not isinstance(budget, Budget):
            raise TypeError(
                f"calibrate takes a Query and a Budget, got {type(query).__name__} and "
                f"{type(budget).__name__}"
            )
        if calibration not in CALIBRATIONS:
            raise ValueError(f"calibration must be one of {CALIBRATIONS}, got {calibration!r}")
        settings = {name: option.default for name, option in cls.options.items()}
        for name, value in options.items():
            if name not in cls.options:
                raise ValueError(_unknown_option(cls, name))
            settings[name] = cls.options[name].check(name, value)
        notice = cls.limit(query, budget)
        if notice and calibration == "published":
            warnings.warn(f"{cls.key}: {notice}", OutOfRangeWarning, stacklevel=2)
        return cls.build(query, budget, calibration, types.MappingProxyType(settings))

    @classmethod
    @abstractmethod
    def build(cls, query, budget, calibration, settings) -> Self:
        """Build the instance from checked arguments."""

    @classmethod
    def limit(cls, query: Query, budget: Budget) -> str | None:
        """Why the budget lies outside the range of the theorem, or None."""
        return None

    @abstractmethod
    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One private answer, of the query's shape.

        `value` is a float32 or float64 array, whose precision the answer keeps, or an array of
        integers, whose answer is float64.

        Raises:
            TypeError: `value` is not an array of real numbers.
            ValueError: Its shape is not the query's, or it holds NaN or infinities.
        """

    def release_with_diagnostics(
        self, value: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, dict[str, float]]:
        """A release and diagnostics of its sampler, such as its convergence.

        The guarantee does not cover the diagnostics: do not publish them.
        """
        return self.release(value, rng), {}

    @classmethod
    def only_adds_noise(cls) -> bool:
        """Whether `release` is the value plus one draw of `sample` and nothing else.

        Then the noise of many values may be drawn in one call of `sample`.
        """
        return False

    def profile(self) -> PrivacyProfile | None:
        """The true privacy profile of everything that the claim covers, or None if unknown."""
        return None

    def slack(self) -> str | None:
        """Why `profile` is only an upper bound of the true profile, or None if it is exact.

        The bounds of `profile` hold the true one either way; see `BoundedProfile`.
        """
        return None

    def parameters(self) -> dict[str, float]:
        """Scale parameters by name, maybe none; the exact calibration rescales the first."""
        return {}

    def checked_value(self, value: np.ndarray) -> np.ndarray:
        """`value` as a float array of the query's shape; raises as `release` says."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
            kind = getattr(value, "dtype", type(value).__name__)
            raise TypeError(f"the value must be a numpy array of real numbers, got {kind}")
        if value.dtype.kind == "f" and value.dtype not in (np.float32, np.float64):
            raise TypeError(f"the value must be float32 or float64, got {value.dtype}")
        if value.shape != self.query.shape:
            raise ValueError(
                f"the value must have the query's shape {self.query.shape}, got {value.shape}"
            )
        if value.dtype.kind != "f":
            return value.astype(np.float64)
        if not np.isfinite(value).all():
            bad = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
            raise ValueError(f"the value must be finite, got {value[bad]} at index {bad}")
        return value


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveMechanism(Mechanism):
    """value + noise. A subclass defines the noise in `noise_for`."""

    noise: Noise

    @classmethod
    @abstractmethod
    def noise_for(cls, query: Query, budget: Budget, **settings) -> Noise:
        """The noise of the published calibration; raises Unsupported with the reason."""

    @classmethod
    def build(cls, query, budget, calibration, settings):
        noise = cls.noise_for(query, budget, **settings)
        published = cls(
            query=query, budget=budget, calibration="published", settings=settings, noise=noise
        )
        if calibration == "published":
            return published
        return cls(
            query=query,
            budget=budget,
            calibration="exact",
            settings=settings,
            noise=noise.scaled(exact_factor(published)),
        )

    def sample(self, rng: np.random.Generator, trials: int, dtype=np.float64) -> np.ndarray:
        """`trials` independent draws of the noise, shape (trials, *query.shape)."""
        return self.noise.sample(rng, trials, dtype)

    def release(self, value, rng):
        value = self.checked_value(value)
        return value + self.noise.sample(rng, 1, value.dtype)[0]

    @classmethod
    def only_adds_noise(cls):
        # A subclass with a release of its own, which may clip first, does more.
        return cls.release is AdditiveMechanism.release

    def loss(self) -> LossMoments:
        """The exact moments of the accuracy loss L = ||n||^2."""
        return self.noise.loss()

    def parameters(self):
        return self.noise.parameters()

    def expected_loss(self) -> float:
        """E L = E ||n||^2."""
        return self.loss().mean

    def profile(self):
        return self.noise.profile(self.query)

    def slack(self):
        return self.noise.slack(self.query)


def exact_factor(published: Mechanism) -> float:
    """The factor that brings the true delta of a published noise to the budget's.

    Raises:
        Unsupported: There is no profile, the profile is only an upper bound, or no factor exists.
    """
    profile = published.profile()
    if profile is None:
        raise Unsupported("has no exact profile, hence no exact calibration")
    # Pure privacy asks for the largest loss alone, which may be known where the rest is not.
    if (slack := published.slack()) and not (
        published.budget.delta == 0 and profile.attains_largest_loss
    ):
        raise Unsupported(f"has no exact calibration: {slack}")
    try:
        return profile.scale_factor(published.budget.epsilon, published.budget.delta)
    except ValueError as reason:
        raise Unsupported(f"has no exact calibration: {reason}") from reason


def _unknown_option(cls: type[Mechanism], name: str) -> str:
    if not cls.options:
        return f"{cls.key} has no options, got {name!r}"
    near = difflib.get_close_matches(name, cls.options, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{cls.key} has no option {name!r}, allowed are {sorted(cls.options)}{hint}"
