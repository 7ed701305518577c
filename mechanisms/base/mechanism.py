"""The base class of mechanisms, and the base class of additive mechanisms, which most are."""

import math
import time
import types
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from mechanisms.base.claim import refutation
from mechanisms.base.exact_calibration import check_exact, exact_factor
from mechanisms.base.guard import (
    ReleaseError,
    check_draws,
    check_values,
    checked_dtype,
    checked_value,
    generator,
    named_in_errors,
    plain_answer,
)
from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.profile import NoScaleError, PrivacyProfile, check_count
from mechanisms.query.option import Option
from mechanisms.query.query import (
    Budget,
    OutOfRangeWarning,
    Query,
    RefutedWarning,
    Unsupported,
)
from mechanisms.query.requirements import require_delta
from mechanisms.query.words import nearest

Calibration = Literal["published", "exact"]
CALIBRATIONS = get_args(Calibration)
# Scales of noise for which the fourth moment of the squared norm, an eighth power, fits in float64.
SCALES = (1e-36, 1e36)
GUARANTEES = ("pure", "approximate", "local", "none")
# Methods that check the value and the answer. A subclass defines the method with a leading
# underscore instead; `timed_release` calls `_release_with_diagnostics`.
_CHECKED = {"release", "releases", "release_all", "release_with_diagnostics", "timed_release"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Mechanism(ABC):
    """An immutable mechanism, calibrated to one query and one budget; create it with `calibrate`.

    A subclass defines `_release`, `profile` if it is known, and `build` if it refuses queries.
    `release` checks the value, calls `_release` and checks its answer: see `mechanisms.base.guard`.
    Instances can be copied and pickled.

    Class attributes that a subclass sets:
        key: Name in configs, tables and figures.
        title: Name in text.
        paper: Key of the paper, or a reference.
        theorem: The statement that claims the guarantee.
        guarantee: The claim: "pure", "approximate", "local" or "none".
        look: Colour, marker (of matplotlib) and place in legends. Without one, a hash of the key
            chooses colour and marker, and the mechanism comes last in legends.
        variants: name -> (changed option in words, look), for variants that the configs define.
        options: Its options by name.
        public_information: Which options take public side information: name -> kind, see
            mechanisms/base/public_information.py. Such options must not depend on private
            records.
        only_adds_noise: Whether every `_release` is the value plus one draw of `sample`. The error
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
    look: ClassVar[tuple[str, str, int] | None] = None
    variants: ClassVar[dict[str, tuple[str, tuple[str, str, int]]]] = {}
    options: ClassVar[dict[str, Option]] = {}
    public_information: ClassVar[dict[str, str]] = {}
    only_adds_noise: ClassVar[bool] = False

    def __init_subclass__(cls, **arguments) -> None:
        super().__init_subclass__(**arguments)
        for name in sorted(_CHECKED & vars(cls).keys()):
            raise TypeError(
                f"{cls.__name__} overrides {name}, which checks every release: define "
                f"{'_release' if name == 'timed_release' else '_' + name} instead"
            )

    # `settings` is a read-only view of a dictionary, which can be neither copied nor pickled.
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
                delta at epsilon is the budget's. If the bounds on delta are wider than rounding
                (Laplace noise), their upper end is the budget's; the true delta is up to 1% less.
            **options: See `cls.options`.

        Raises:
            Unsupported: The mechanism does not support this query or budget, with the reason.
            Inconsistent: The exact calibration does not meet the budget by the mechanism's own
                profile.
            TypeError, ValueError: A bad query, budget, calibration or option.

        Warns:
            OutOfRangeWarning: The budget lies outside the range of the mechanism's theorem.
            RefutedWarning: The profile of the published noise shows that its claim is false for
                this query and budget.
        """
        mechanism = cls.calibrate_only(query, budget, calibration, **options)
        if reason := refutation(mechanism):
            warnings.warn(f"{cls.key}: {reason}", RefutedWarning, stacklevel=2)
        return mechanism

    @classmethod
    def calibrate_only(
        cls, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> Self:
        """Do as `calibrate`, but without RefutedWarning, for code that judges the claim itself."""
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
            warnings.warn(f"{cls.key}: {notice}", OutOfRangeWarning, stacklevel=3)
        try:
            mechanism = cls.build(query, budget, calibration, types.MappingProxyType(settings))
        except NoScaleError as reason:
            raise Unsupported(f"cannot meet this budget: {reason}") from reason
        if calibration == "exact":
            check_exact(mechanism)
        return mechanism

    @classmethod
    def build(cls, query, budget, calibration, settings) -> Self:
        """Build the instance from checked arguments, or raise Unsupported with the reason."""
        return cls(query=query, budget=budget, calibration=calibration, settings=settings)

    @classmethod
    def stated_budget(cls, query: Query, budget: Budget, settings: Mapping) -> Budget:
        """Return the (epsilon, delta) of the claim: the budget, unless an option sets delta."""
        return budget

    @classmethod
    def limit(cls, query: Query, budget: Budget) -> str | None:
        """Return why the budget lies outside the range of the theorem, or None."""
        return None

    @abstractmethod
    def _release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return one private answer; `release` calls this method.

        Args:
            value: A read-only copy, float32 or float64, within the bounds that the query states.
            rng: The source of all random numbers of the answer.

        Returns a new array of the value's shape and precision.
        """

    def _releases(self, value: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Return independent answers of `_release` to one value, (trials, *query.shape).

        A subclass overrides this method if it draws many answers faster together than one by one.
        """
        return np.array([self._answer(value, rng) for _ in range(trials)])

    def _release_all(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return independent answers to many values (n, *query.shape), see `release_all`."""
        if self.only_adds_noise:
            return values + self.sample(rng, len(values), values.dtype)
        released = [self.release(value, rng) for value in values]
        return np.array(released, dtype=values.dtype).reshape(values.shape)

    def _release_with_diagnostics(
        self, value: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Return an answer of `_release`, and diagnostics of its sampler."""
        return self._release(value, rng), {}

    def _answer(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return plain_answer(self._release(value, rng), self.query.shape, value.dtype)

    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return one private answer, a plain array of the query's shape that owns its memory.

        Args:
            value: A float32 or float64 array, whose precision the answer keeps, or an array of
                integers, whose answer is float64.
            rng: Anything that `numpy.random.default_rng` takes. The same seed gives the same noise
                every time, so the difference of two answers with additive noise is the difference
                of the values.

        Raises:
            TypeError, ValueError: As in `mechanisms.base.guard.checked_value` and `generator`.
            RuntimeError: As in `generator`.
            ReleaseError: The mechanism wrote into the value, or its answer is not a finite array of
                the query's shape in the value's precision.
        """
        value, rng = checked_value(value, self.query), generator(rng)
        with named_in_errors(self.key):
            return self._answer(value, rng)

    def releases(self, value: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Return independent private answers to one value, (trials, *query.shape).

        The value is checked once. trials: at least 1. Other arguments and errors: as in `release`.
        """
        value, rng = checked_value(value, self.query), generator(rng)
        trials = check_count("trials", trials)
        draw = self._releases if self.draws_many() else partial(Mechanism._releases, self)
        with named_in_errors(self.key):
            released = draw(value, rng, trials)
            return plain_answer(released, (trials, *self.query.shape), value.dtype)

    @classmethod
    def draws_many(cls) -> bool:
        """Whether the class that defines `_release`, or one below it, overrides `_releases`."""
        homes = {
            name: next(place for place, base in enumerate(cls.__mro__) if name in vars(base))
            for name in ("_releases", "_release")
        }
        return homes["_releases"] <= homes["_release"]

    def release_all(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return answers to many values, released independently.

        Args:
            values: (n, *query.shape), finite, float32 or float64. If the mechanism only adds noise,
                or its `_release_all` does not check them, the caller must check them with the
                query.
            rng: As in `release`.

        Raises TypeError or ValueError for other values, and as `release` does.

        Returns an array of the shape and precision of `values`.
        """
        rng = generator(rng)
        check_values(values, self.query.shape)
        with named_in_errors(self.key):
            return plain_answer(self._release_all(values, rng), values.shape, values.dtype)

    def release_with_diagnostics(
        self, value: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Return a release and diagnostics of its sampler, such as its convergence.

        The guarantee does not cover the diagnostics: do not publish them.
        """
        return self.timed_release(value, rng)[:2]

    def timed_release(
        self, value: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, dict[str, float], float]:
        """Return a release, its diagnostics, and the mechanism's wall-clock time in seconds.

        The seconds exclude the checks, which take longer than a release of a few numbers.
        """
        value, rng = checked_value(value, self.query), generator(rng)
        with named_in_errors(self.key):
            begun = time.perf_counter()
            released = self._release_with_diagnostics(value, rng)
            seconds = time.perf_counter() - begun
            if not isinstance(released, tuple) or len(released) != 2:
                raise ReleaseError(
                    "_release_with_diagnostics must return an array and a dictionary, got "
                    f"{type(released).__name__}"
                )
            answer = plain_answer(released[0], self.query.shape, value.dtype)
        return answer, released[1], seconds

    def profile(self) -> PrivacyProfile | None:
        """Return the true privacy profile of all that the claim covers, or None if unknown.

        If only a bound on it is known, the `slack` of the result says why.
        """
        return None

    def profile_of_release(self) -> PrivacyProfile | None:
        """Return the profile of one `release` of the answer on all records, or None if unknown.

        It equals `profile`, unless the claim covers several releases, or releases on secret samples
        of the records.
        """
        return self.profile()

    def parameters(self) -> dict[str, float]:
        """Return scale parameters by name, maybe none; the exact calibration rescales the first."""
        return {}


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveMechanism(Mechanism):
    """prepared(value) + noise. A subclass defines the noise in `noise_for`.

    A subclass that overrides `_release` or `prepared` must declare `only_adds_noise` again.
    """

    noise: Noise

    only_adds_noise = True

    def __init_subclass__(cls, **arguments) -> None:
        super().__init_subclass__(**arguments)
        own = vars(cls).keys()
        if own & {"_release", "prepared"} and "only_adds_noise" not in own:
            raise TypeError(
                f"{cls.__name__} overrides _release or prepared: set only_adds_noise = True "
                "if every release is the value plus one draw of sample, and False if not"
            )

    @classmethod
    @abstractmethod
    def noise_for(cls, query: Query, budget: Budget, **settings) -> Noise:
        """Return the noise of the published calibration, or raise Unsupported with the reason."""

    @classmethod
    def build(cls, query, budget, calibration, settings):
        noise = cls.noise_for(query, budget, **settings)
        published = cls(
            query=query, budget=budget, calibration="published", settings=settings, noise=noise
        )
        if calibration == "exact":
            noise = noise.scaled(exact_factor(published))
        _require_moments(noise)
        return replace(published, calibration=calibration, noise=noise)

    def prepared(self, value: np.ndarray) -> np.ndarray:
        """Return the array that noise is added to: the value, or for example a clipped value.

        It has the value's shape and precision. `profile` must cover the change of this array.
        """
        return value

    def sample(self, rng: np.random.Generator, trials: int, dtype=np.float64) -> np.ndarray:
        """Draw the noise `trials` times independently, (trials, *query.shape).

        Raises:
            TypeError: `dtype` is neither float32 nor float64.
            ReleaseError: The noise has another shape or precision.
        """
        draws = self.noise.sample(generator(rng), trials, checked_dtype(dtype))
        check_draws(draws, trials, self.query.shape, np.dtype(dtype))
        return draws

    def _release(self, value, rng):
        return self.prepared(value) + self.sample(rng, 1, value.dtype)[0]

    def loss(self) -> LossMoments:
        """Return the exact moments of the accuracy loss L = ||n||^2."""
        return self._loss

    def parameters(self):
        return self.noise.parameters()

    def expected_loss(self) -> float:
        """Return E L = E ||n||^2."""
        return self.loss().mean

    def profile(self):
        return self._profile

    # Cached: a check asks for both many times, and they are slow for noise of many scales.
    @cached_property
    def _loss(self) -> LossMoments:
        return self.noise.loss()

    @cached_property
    def _profile(self) -> PrivacyProfile | None:
        return self.noise.profile(self.query)


def _require_moments(noise: Noise) -> None:
    """Raise Unsupported if the moments of the squared norm leave float64."""
    scale = next(iter(noise.parameters().values()), 1.0)
    # `NoNoise` has the scale 0. A scale of NaN is a fault that the profile reports.
    if scale and not math.isnan(scale) and not SCALES[0] <= scale <= SCALES[1]:
        raise Unsupported(
            f"needs noise of scale {scale:.3g}; the moments of its squared norm stay within "
            f"float64 for scales from {SCALES[0]:g} to {SCALES[1]:g}"
        )


def _unknown_option(cls: type[Mechanism], name: str) -> str:
    if not cls.options:
        return f"{cls.key} has no options, got {name!r}"
    allowed = ", ".join(sorted(cls.options))
    hint = nearest(name, cls.options, "; did you mean {!r}?")
    return f"{cls.key} has no option {name!r}, allowed are {allowed}{hint}"
