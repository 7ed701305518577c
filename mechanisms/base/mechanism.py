"""The contract of a mechanism, and of the additive kind, to which nearly all of them belong."""

from __future__ import annotations

import difflib
import types
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from mechanisms.base.exact_calibration import check_exact, exact_factor
from mechanisms.base.guard import (
    check_answer,
    check_answers,
    check_described_answer,
    check_draws,
    generator,
    guarded,
)
from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.option import Option
from mechanisms.query.query import Budget, OutOfRangeWarning, Query
from mechanisms.query.requirements import require_delta

CALIBRATIONS = ("published", "exact")
GUARANTEES = ("pure", "approximate", "local", "none")
# Methods that release, with the check of what they return.
_RELEASES = {
    "release": check_answer,
    "release_with_diagnostics": check_described_answer,
    "releases": check_answers,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Mechanism(ABC):
    """A mechanism calibrated to one query and one budget. Create it with `calibrate`; immutable.

    A subclass defines `build` and `release`, and `profile` where it is known. This class checks
    every release, whatever the subclass does: see `mechanisms.base.guard`. Instances can be
    copied and pickled.

    Class attributes that a subclass sets:
        key: Name in configs, tables and figures.
        title: Name in text.
        paper: Key of the paper, or a reference.
        theorem: The statement that claims the guarantee.
        guarantee: The claim: "pure", "approximate", "local" or "none".
        options: Its options by name.
        public_information: Which options take public side information: name -> kind, see
            mechanisms/base/public_information.py. Such options must not depend on private
            records.
        only_adds_noise: Whether every `release` is the value plus one draw of `sample`. The error
            is then independent of the answer, and many releases may draw their noise at once.
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
    only_adds_noise: ClassVar[bool] = False

    def __init_subclass__(cls, **arguments) -> None:
        super().__init_subclass__(**arguments)
        for name, check in _RELEASES.items():
            method = vars(cls).get(name)
            if method is not None and not getattr(method, "__isabstractmethod__", False):
                setattr(cls, name, guarded(method, check))

    # The view of a dictionary in `settings` can be neither copied nor pickled.
    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"settings": dict(self.settings)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"settings": types.MappingProxyType(state["settings"])})

    @classmethod
    def calibrate(
        cls, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> Self:
        """Choose the noise for a query and a budget.

        Args:
            query: Shape and sensitivities.
            budget: The (epsilon, delta) to reach.
            calibration: "published" follows the paper; "exact" rescales that noise until the true
                delta at epsilon is the budget's. Where the bounds of delta are wider than rounding
                (Laplace noise), their upper end is the budget's; the true one is up to 1% less.
            **options: See `cls.options`.

        Raises:
            Unsupported: The mechanism does not support this query or budget, with the reason.
            Inconsistent: The exact calibration does not meet the budget by the mechanism's own
                profile.
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
        budget = cls.stated_budget(query, budget, settings)
        if cls.guarantee == "approximate":
            require_delta(budget)
        notice = cls.limit(query, budget)
        if notice and calibration == "published":
            warnings.warn(f"{cls.key}: {notice}", OutOfRangeWarning, stacklevel=2)
        mechanism = cls.build(query, budget, calibration, types.MappingProxyType(settings))
        if calibration == "exact":
            check_exact(mechanism)
        return mechanism

    @classmethod
    @abstractmethod
    def build(cls, query, budget, calibration, settings) -> Self:
        """Build the instance from checked arguments."""

    @classmethod
    def stated_budget(cls, query: Query, budget: Budget, settings: Mapping) -> Budget:
        """The (epsilon, delta) of the claim: the budget, unless delta follows from an option."""
        return budget

    @classmethod
    def limit(cls, query: Query, budget: Budget) -> str | None:
        """Why the budget lies outside the range of the theorem, or None."""
        return None

    @abstractmethod
    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One private answer, of the query's shape.

        Args:
            value: A float32 or float64 array, whose precision the answer keeps, or an array of
                integers, whose answer is float64. An override receives a read-only copy.
            rng: Anything that `numpy.random.default_rng` takes. The same number gives the same
                noise every time, so that the difference of two such answers is the difference of
                the values. An override receives a Generator.

        Raises:
            TypeError, ValueError: As `mechanisms.base.guard.checked_value` and `generator` do.
            ReleaseError: The mechanism wrote into the value, or its answer is not a finite array of
                the query's shape in the value's precision.
        """

    def release_with_diagnostics(
        self, value: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, dict[str, float]]:
        """A release and diagnostics of its sampler, such as its convergence.

        The guarantee does not cover the diagnostics: do not publish them.
        """
        return self.release(value, rng), {}

    def release_all(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Answers to many values, released independently.

        Args:
            values: (n, *query.shape), float32 or float64. The caller must check them where the
                noise is only added, or where an override does not check them.
            rng: As in `release`.

        Returns an array of the shape and precision of `values`.
        """
        rng = generator(rng)
        if self.only_adds_noise:
            return values + self.sample(rng, len(values), values.dtype)
        released = [self.release(value, rng) for value in values]
        return np.array(released, dtype=values.dtype).reshape(values.shape)

    def profile(self) -> PrivacyProfile | None:
        """The true privacy profile of everything that the claim covers, or None if unknown."""
        return None

    def profile_of_release(self) -> PrivacyProfile | None:
        """The profile of one call of `release` with the answer of all records, or None if unknown.

        That of `profile`, unless the claim covers several releases, or releases on secret samples
        of the records.
        """
        return self.profile()

    def share_covered(self, change: np.ndarray) -> float:
        """The largest share, in (0, 1], of a change of the query that the claim covers too."""
        return 1.0

    def slack(self) -> str | None:
        """Why `profile` is only an upper bound of the true profile, or None if it is exact.

        The bounds of `profile` contain the true one either way; see `BoundedProfile`.
        """
        return None

    def slack_of_release(self) -> str | None:
        """The same for `profile_of_release`."""
        return self.slack()

    def parameters(self) -> dict[str, float]:
        """Scale parameters by name, maybe none; the exact calibration rescales the first."""
        return {}


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveMechanism(Mechanism):
    """prepared(value) + noise. A subclass defines the noise in `noise_for`.

    A subclass that overrides `release` or `prepared` must declare `only_adds_noise` again.
    """

    noise: Noise

    only_adds_noise = True

    def __init_subclass__(cls, **arguments) -> None:
        super().__init_subclass__(**arguments)
        own = vars(cls).keys()
        if own & {"release", "prepared"} and "only_adds_noise" not in own:
            raise TypeError(
                f"{cls.__name__} overrides release or prepared: set only_adds_noise = True "
                "if every release is the value plus one draw of sample, and False if not"
            )

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

    def prepared(self, value: np.ndarray) -> np.ndarray:
        """What the noise is added to: the value, or a function of it such as a clipped one.

        Of the value's shape and precision. `profile` then covers the change of what it returns.
        """
        return value

    def sample(self, rng: np.random.Generator, trials: int, dtype=np.float64) -> np.ndarray:
        """`trials` independent draws of the noise, shape (trials, *query.shape).

        Raises:
            ReleaseError: The noise has another shape or precision.
        """
        draws = self.noise.sample(generator(rng), trials, dtype)
        check_draws(draws, trials, self.query.shape, np.dtype(dtype))
        return draws

    def release(self, value, rng):
        return self.prepared(value) + self.sample(rng, 1, value.dtype)[0]

    def loss(self) -> LossMoments:
        """The exact moments of the accuracy loss L = ||n||^2."""
        return self._loss

    def parameters(self):
        return self.noise.parameters()

    def expected_loss(self) -> float:
        """E L = E ||n||^2."""
        return self.loss().mean

    def profile(self):
        return self._profile

    # A check of a mechanism asks for both again and again; noise of many scales takes its time.
    @cached_property
    def _loss(self) -> LossMoments:
        return self.noise.loss()

    @cached_property
    def _profile(self) -> PrivacyProfile | None:
        return self.noise.profile(self.query)

    def slack(self):
        return self.noise.slack(self.query)


def _unknown_option(cls: type[Mechanism], name: str) -> str:
    if not cls.options:
        return f"{cls.key} has no options, got {name!r}"
    near = difflib.get_close_matches(name, cls.options, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    allowed = ", ".join(sorted(cls.options))
    return f"{cls.key} has no option {name!r}, allowed are {allowed}{hint}"
