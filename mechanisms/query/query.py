"""The query and the budget of a mechanism, and the exceptions and warnings about them."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple, Self

from mechanisms.query.sensitivities import check_sensitivities
from mechanisms.query.words import nearest

ADJACENCIES = ("add-remove", "replace", "local")
# Beyond these limits intermediate numbers (fourth moments of the squared norm, e^epsilon) leave the
# range of float64; no use of a mechanism comes near the limits.
EPSILONS = (1e-15, 1e15)
LEAST_DELTA = 1e-307
DELTAS = {"low": 0.0, "high": math.nextafter(1.0, 0.0), "allowed": "with 0 <= delta < 1"}
SENSITIVITIES = (1e-12, 1e12)
STRUCTURES = ("records", "gram", "histogram")
_NORMS = ("l2_sensitivity", "l1_sensitivity", "linf_sensitivity")
# A stated sensitivity of a histogram may be rounded by hand, such as 1.4142 for sqrt(2).
_TYPED_BY_HAND = 1e-4
_OF_A_MEAN = (
    "; for a sum or mean of records state no structure, but its l2_sensitivity: 2 C / n for the "
    "mean of n records of norm at most C, under adjacency replace, and its frobenius_bound C"
)


class Unsupported(Exception):
    """A mechanism does not support this query or budget.

    The message is the reason as a predicate of the mechanism: "needs delta > 0, ...", "has no exact
    calibration: ...". The command line prints "KEY is unsupported here: it REASON"; studies store
    the reason as the message of a row with status ``unsupported``.
    """


class Inconsistent(Exception):
    """A mechanism contradicts itself: its releases, moments and profile do not fit together.

    The message is a sentence that says which two statements differ. Studies store it as the message
    of a row with status ``inconsistent``.
    """


class OutOfRangeWarning(UserWarning):
    """A mechanism is used outside the range for which its own theorem is stated."""


class RefutedWarning(UserWarning):
    """A mechanism's claim is false for the query and the budget that it is calibrated to."""


def checked_real(name: str, value: object, *, low: float, high: float, allowed: str) -> float:
    """Return `value` as a float if it is a real number with low <= value <= high.

    Raises TypeError for anything that is not a real number (booleans and text included) and
    ValueError, naming the value and the `allowed` range, for other numbers, NaN and infinities.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number {allowed}, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be a number {allowed}, got {value}")
    return float(value)


def _one_of(names: tuple[str, ...], given: object, otherwise: str = "") -> str:
    near = nearest(given, names, "; did you mean {!r}?")
    return f"must be one of {', '.join(names)}, got {given!r}{near or otherwise}"


def _checked_within(name: str, value: object, limits: tuple[float, float]) -> float:
    low, high = limits
    allowed = f"from {low:g} to {high:g}".replace("e+", "e")
    return checked_real(name, value, low=low, high=high, allowed=allowed)


class Shifts(NamedTuple):
    """Changes of single elements: `count` of them by `width`, and one more by `rest` < width."""

    count: int
    width: float
    rest: float

    @property
    def norm(self) -> float:
        """The l2 norm of all changes together."""
        return math.hypot(self.width * math.sqrt(self.count), self.rest)


def concentrated(l1: float, linf: float, elements: int) -> Shifts:
    """Return the most concentrated change of `elements` elements: l1 in all, linf each, at most.

    At most one of l1 and linf is infinite.
    """
    if l1 <= linf:
        return Shifts(1, l1, 0.0)
    # A ratio that differs from an integer by rounding alone counts as that integer.
    ratio = l1 / linf * (1 + 1e-12)
    if ratio >= elements:
        return Shifts(elements, linf, 0.0)
    count = math.floor(ratio)
    rest = l1 - count * linf
    return Shifts(count, linf, rest if rest > 1e-11 * l1 else 0.0)


@dataclass(frozen=True, kw_only=True)
class Query:
    """A numeric query as a mechanism sees it: a shape and how far one person can move it.

    The answers for two neighbouring data sets differ by some D with ||D||_2 <= l2_sensitivity and,
    where stated, ||D||_1 <= l1_sensitivity and |D_i| <= linf_sensitivity. All sensitivities
    refer to the `adjacency` given here. Any such D belongs to two neighbours, unless `structure`
    says which ones do.

    Args:
        shape: Axes of the answer, each at least 1; M is their product.
        l2_sensitivity: sup ||f(x) - f(x')||_2 (Frobenius for matrices). Like all sensitivities and
            bounds, in [1e-12, 1e12]. If left out, the largest that the other numbers allow.
        l1_sensitivity: sup ||f(x) - f(x')||_1, positive, or None if unknown.
        linf_sensitivity: Largest change of one element, positive. Defaults to the width b - a of
            `element_range` if that is given. If the answer is one number, all norms are equal,
            and one of the three sensitivities states the others.
        element_range: (a, b), a < b, if every element of the answer lies in [a, b].
        frobenius_bound: gamma = sup ||f(x)||_F over all data sets, positive (MVG needs it).
        adjacency: "add-remove", "replace" (one record changes its value) or "local".
        structure: How records form the answer, or None for any other or an unknown way. With
            "records", each column of a matrix is one record x_j of R^m, so that D (unless local) is
            zero outside one column. With "gram", the (m, m) answer is sum_j x_j x_j^T over the
            records. With "histogram", each record adds B to one cell of an answer of any shape, so
            that D is +-B e_i (add-remove) or B (e_i - e_j) with i != j (replace). The sensitivities
            then follow from B: those left out are filled in, and a stated one must agree.
        record_bound: B = sup ||x_j||_2 of those records, positive; required with "records" and
            "gram". A covariance (1/N) sum x x^T of records with norm at most R has
            B = R / sqrt(N). For a histogram it defaults to 1: the answer counts records.

    Raises:
        TypeError: A number, shape or range of the wrong type.
        ValueError: A value out of its range, with both in the message; or sensitivities that no
            query has together, see `mechanisms.query.sensitivities`.
    """

    shape: tuple[int, ...]
    l2_sensitivity: float | None = None
    l1_sensitivity: float | None = None
    linf_sensitivity: float | None = None
    element_range: tuple[float, float] | None = None
    frobenius_bound: float | None = None
    adjacency: str = "add-remove"
    structure: str | None = None
    record_bound: float | None = None

    def __post_init__(self) -> None:
        axes = tuple(self.shape) if isinstance(self.shape, (tuple, list)) else None
        if not axes or any(isinstance(n, bool) or not isinstance(n, Integral) for n in axes):
            raise TypeError(f"shape must be a non-empty tuple of integers, got {self.shape!r}")
        axes = tuple(int(n) for n in axes)
        if min(axes) < 1:
            raise ValueError(f"every axis of shape must be at least 1, got {self.shape!r}")
        object.__setattr__(self, "shape", axes)
        for name in (*_NORMS, "frobenius_bound", "record_bound"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _checked_within(name, value, SENSITIVITIES))
        self._fill_in_norms_of_one_number()
        if self.element_range is not None:
            self._check_range()
        if self.adjacency not in ADJACENCIES:
            raise ValueError(f"adjacency {_one_of(ADJACENCIES, self.adjacency)}")
        if self.structure == "histogram" and self.record_bound is None:
            object.__setattr__(self, "record_bound", 1.0)
        if self.l2_sensitivity is None and self.structure != "histogram":
            object.__setattr__(self, "l2_sensitivity", self._largest_l2())
            self._fill_in_norms_of_one_number()
        self._check_structure()
        check_sensitivities(self)

    def _fill_in_norms_of_one_number(self) -> None:
        if self.size > 1 or self.structure == "histogram":
            return
        stated = next((norm for name in _NORMS if (norm := getattr(self, name)) is not None), None)
        for name in _NORMS:
            if getattr(self, name) is None:
                object.__setattr__(self, name, stated)

    def _largest_l2(self) -> float:
        """Return the largest l2_sensitivity that the other numbers allow, or raise ValueError."""
        bounds = [] if self.frobenius_bound is None else [2 * self.frobenius_bound]
        if self.largest_shifts is not None:
            bounds.append(self.largest_shifts.norm)
        if self.record_bound is not None and self.gram_change is not None:
            bounds.append(self.gram_change)
        if not bounds:
            # First say what the structure lacks: it may be all that is missing.
            self._check_structure()
            raise ValueError(
                "l2_sensitivity is missing, and no other number of the query bounds it: state it, "
                "or l1_sensitivity, linf_sensitivity, element_range or frobenius_bound; for counts "
                "with each person in one cell, structure 'histogram' is enough"
            )
        return _checked_within("l2_sensitivity", min(bounds), SENSITIVITIES)

    def _check_structure(self) -> None:
        if self.structure is None and self.record_bound is None:
            return
        if self.structure is None:
            raise ValueError(
                f"record_bound needs a structure, one of {', '.join(STRUCTURES)}{_OF_A_MEAN}"
            )
        if self.structure not in STRUCTURES:
            raise ValueError(f"structure {_one_of(STRUCTURES, self.structure, _OF_A_MEAN)}")
        if self.record_bound is None:
            raise ValueError(
                f"structure {self.structure!r} needs record_bound, the largest l2 norm of a record"
            )
        if self.structure == "histogram":
            self._check_histogram()
            return
        square = len(self.shape) == 2 and self.shape[0] == self.shape[1]
        if len(self.shape) != 2 or (self.structure == "gram" and not square):
            kind, hint = "matrix with records as its columns", _OF_A_MEAN
            if self.structure == "gram":
                kind, hint = "square matrix", ""
            raise ValueError(f"structure {self.structure!r} needs a {kind}, got {self.shape}{hint}")

    def _check_histogram(self) -> None:
        if self.adjacency == "local":
            raise ValueError(
                "structure 'histogram' needs adjacency add-remove or replace, got 'local'"
            )
        if self.adjacency == "replace" and self.size == 1:
            raise ValueError("a histogram of one cell does not change when a record is replaced")
        cells = self.changed
        exact = {
            "l2_sensitivity": math.sqrt(cells) * self.record_bound,
            "l1_sensitivity": cells * self.record_bound,
            "linf_sensitivity": self.record_bound,
        }
        for name, value in exact.items():
            stated = getattr(self, name)
            # element_range fills in linf_sensitivity, and a range may be wider than one record.
            wide = name == "linf_sensitivity" and self.element_range is not None
            if stated is not None and not (
                math.isclose(stated, value, rel_tol=_TYPED_BY_HAND) or (wide and stated > value)
            ):
                raise ValueError(
                    f"{name} of a histogram must be {value:g} under {self.adjacency} with "
                    f"record_bound {self.record_bound:g}, got {stated:g}"
                )
            object.__setattr__(self, name, value)

    def _check_range(self) -> None:
        if not isinstance(self.element_range, (tuple, list)) or len(self.element_range) != 2:
            raise TypeError(f"element_range must be a pair (a, b), got {self.element_range!r}")
        ends = (-SENSITIVITIES[1], SENSITIVITIES[1])
        a, b = (_checked_within("element_range", end, ends) for end in self.element_range)
        if not a < b:
            raise ValueError(f"element_range (a, b) must satisfy a < b, got {(a, b)}")
        object.__setattr__(self, "element_range", (a, b))
        if self.linf_sensitivity is None:
            object.__setattr__(self, "linf_sensitivity", b - a)

    @property
    def one_column(self) -> bool:
        """Whether neighbouring answers differ in one column only: columns are records."""
        return self.structure == "records" and self.adjacency != "local"

    @property
    def changed(self) -> int:
        """The number of elements in which neighbouring answers may differ."""
        if self.structure == "histogram":
            return 2 if self.adjacency == "replace" else 1
        return self.shape[0] if self.one_column else self.size

    @property
    def gram_change(self) -> float | None:
        """sup ||D||_F by record_bound for a Gram matrix that one record changes, else None.

        Add-remove: D = +-x x^T, so B^2. Replace: D = x x^T - y y^T with ||D||_F^2 = |x|^4 + |y|^4 -
        2 (x.y)^2, so sqrt(2) B^2 at orthogonal x and y. One dimension has no such x and y: B^2.
        """
        if self.structure != "gram" or self.adjacency == "local":
            return None
        orthogonal = self.adjacency == "replace" and self.shape[0] > 1
        return (math.sqrt(2) if orthogonal else 1.0) * self.record_bound**2

    @property
    def reach(self) -> float:
        """Upper bound of ||D||_2 from all that is stated, the records of a Gram matrix included.

        Some change attains it, except for a Gram matrix whose largest change leaves the element
        box or the l1 ball.
        """
        bounds = [self.l2_sensitivity]
        if self.largest_shifts is not None:
            bounds.append(self.largest_shifts.norm)
        if self.gram_change is not None:
            bounds.append(self.gram_change)
        return min(bounds)

    @property
    def largest_shifts(self) -> Shifts | None:
        """The most concentrated change within the l1 ball and the element box; None without either.

        As many elements as possible change by linf_sensitivity, and one more by what is left of
        l1_sensitivity. Its sorted |D_i| majorise those of every D in the ball and the box, so that
        it has the largest norms. l2_sensitivity is not used here, and a Gram matrix may not allow
        this change.
        """
        linf = math.inf if self.linf_sensitivity is None else self.linf_sensitivity
        l1 = math.inf if self.l1_sensitivity is None else self.l1_sensitivity
        return None if min(l1, linf) == math.inf else concentrated(l1, linf, self.changed)

    def largest_multiple(self, *, l2: float, l1: float, linf: float) -> float:
        """Return the largest multiple of a change of these norms that the sensitivities allow."""
        stated = (
            (self.l2_sensitivity, l2),
            (self.l1_sensitivity, l1),
            (self.linf_sensitivity, linf),
        )
        return float(min(limit / norm for limit, norm in stated if limit is not None))

    @property
    def change_of_one(self) -> float:
        """The largest change of one element; of a Gram matrix, of a diagonal element."""
        largest = self.largest_multiple(l2=1.0, l1=1.0, linf=1.0)
        return largest if self.gram_change is None else min(largest, self.record_bound**2)

    @property
    def size(self) -> int:
        """M, the number of elements of the answer."""
        return math.prod(self.shape)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The privacy to reach: epsilon in [1e-15, 1e15] and delta, which is 0 or in [1e-307, 1)."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checked_within("epsilon", self.epsilon, EPSILONS))
        delta = checked_real("delta", self.delta, **DELTAS)
        if 0 < delta < LEAST_DELTA:
            raise ValueError(f"delta must be 0 or at least {LEAST_DELTA:g}, got {delta!r}")
        object.__setattr__(self, "delta", delta + 0.0)  # -0.0 is 0

    @classmethod
    def of_part(cls, *, epsilon: float, delta: float) -> Self:
        """Return the budget of one release of many, as a theorem divides or amplifies the whole.

        Raises:
            Unsupported: A number is out of range, although the given budget is not.
        """
        try:
            return cls(epsilon=epsilon, delta=delta)
        except ValueError as error:
            raise Unsupported(f"divides the budget, and in a part {error}") from None
