"""The query and the budget that a mechanism is given, and the exception it refuses them with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

ADJACENCIES = ("add-remove", "replace", "local")
STRUCTURES = ("records", "gram", "counts", "votes")
# Structures that state what the records are made of.
OF_RECORDS = ("records", "gram")


class Unsupported(Exception):
    """A mechanism cannot serve this query or budget.

    The message is the reason as a predicate of the mechanism: "needs delta > 0, ...", "has no exact
    calibration: ...". The command line prints "KEY is unsupported here: it REASON"; studies store
    the reason as the message of a row with status ``unsupported``.
    """


class OutOfRangeWarning(UserWarning):
    """A mechanism is used outside the range for which its own theorem is stated."""


def checked_real(name: str, value: object, *, low: float, high: float, allowed: str) -> float:
    """Return `value` as a float if it is a real number with low < value < high.

    Raises TypeError for anything that is not a real number (booleans and text included) and
    ValueError, naming the value and the `allowed` range, for NaN, infinities and the rest.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number ({allowed}), got {value!r}")
    number = float(value)
    if not math.isfinite(number) or not low < number < high:
        raise ValueError(f"{name} must satisfy {allowed}, got {number!r}")
    return number


def _checked_positive(name: str, value: object) -> float:
    return checked_real(name, value, low=0.0, high=math.inf, allowed=f"0 < {name} < infinity")


@dataclass(frozen=True, kw_only=True)
class Query:
    """A numeric query as a mechanism sees it: a shape and how far one person can move it.

    The answers for two neighbouring data sets differ by some D with ||D||_2 <= l2_sensitivity and,
    where stated, ||D||_1 <= l1_sensitivity and |D_i| <= linf_sensitivity. All sensitivities
    refer to the `adjacency` given here.

    Args:
        shape: Axes of the answer, each at least 1; M is their product.
        l2_sensitivity: sup ||f(x) - f(x')||_2 (Frobenius for matrices), positive.
        l1_sensitivity: sup ||f(x) - f(x')||_1, positive, or None where unknown.
        linf_sensitivity: Largest change of one element, positive. Defaults to the width b - a of
            `element_range` where that is given.
        element_range: (a, b), a < b, if every element of the answer lies in [a, b].
        frobenius_bound: gamma = sup ||f(x)||_F over all data sets, positive (MVG needs it).
        adjacency: "add-remove", "replace" (one record changes its value) or "local".
        structure: How an (m, n) answer is made of records, for mechanisms that use it:
            "records", each column is one record x_j of R^m, so that D (unless local) is zero
            outside one column; "gram", the (m, m) answer is sum_j x_j x_j^T over the records;
            None, neither or unknown.
        record_bound: B = sup ||x_j||_2 of those records, positive; required with `structure`. A
            covariance (1/N) sum x x^T of records with norm at most R has B = R / sqrt(N).

    Raises:
        TypeError: A number, shape or range of the wrong type.
        ValueError: A value out of its range; the message names both.
    """

    shape: tuple[int, ...]
    l2_sensitivity: float
    l1_sensitivity: float | None = None
    linf_sensitivity: float | None = None
    element_range: tuple[float, float] | None = None
    frobenius_bound: float | None = None
    adjacency: str = "add-remove"
    structure: str | None = None
    record_bound: float | None = None

    def __post_init__(self) -> None:
        axes = tuple(self.shape) if isinstance(self.shape, (tuple, list)) else None
        if not axes or any(isinstance(n, bool) or not isinstance(n, int) for n in axes):
            raise TypeError(f"shape must be a non-empty tuple of integers, got {self.shape!r}")
        if min(axes) < 1:
            raise ValueError(f"every axis of shape must be at least 1, got {self.shape!r}")
        object.__setattr__(self, "shape", axes)
        if self.element_range is not None:
            self._check_range()
        positive = ("l2_sensitivity", "l1_sensitivity", "linf_sensitivity", "frobenius_bound")
        for name in (*positive, "record_bound"):
            value = getattr(self, name)
            if value is not None or name == "l2_sensitivity":
                object.__setattr__(self, name, _checked_positive(name, value))
        if self.adjacency not in ADJACENCIES:
            raise ValueError(f"adjacency must be one of {ADJACENCIES}, got {self.adjacency!r}")
        self._check_structure()

    def _check_structure(self) -> None:
        if self.structure is None and self.record_bound is None:
            return
        if self.structure not in STRUCTURES:
            raise ValueError(
                f"structure must be one of {STRUCTURES} if record_bound is given, got "
                f"{self.structure!r}"
            )
        if self.structure not in OF_RECORDS:
            self._check_added()
            return
        if self.record_bound is None:
            raise ValueError(f"structure {self.structure!r} needs record_bound = sup ||x_j||_2")
        square = len(self.shape) == 2 and self.shape[0] == self.shape[1]
        if len(self.shape) != 2 or (self.structure == "gram" and not square):
            kind = "square matrix" if self.structure == "gram" else "matrix"
            raise ValueError(f"structure {self.structure!r} needs a {kind}, got {self.shape}")

    def _check_added(self) -> None:
        """Counts and votes: the sensitivities must be those of what one record adds."""
        if self.adjacency != "add-remove":
            raise ValueError(
                f"structure {self.structure!r} needs adjacency 'add-remove', got {self.adjacency!r}"
            )
        if self.record_bound is not None:
            raise ValueError(f"structure {self.structure!r} takes no record_bound")
        if self.linf_sensitivity is None:
            raise ValueError(f"structure {self.structure!r} needs linf_sensitivity")
        if self.structure == "votes" and self.size < 2:
            raise ValueError("structure 'votes' needs at least 2 elements")
        l1, l2 = self._norms_added()
        if self.l1_sensitivity is None:
            object.__setattr__(self, "l1_sensitivity", l1)
        for name, norm in (("l1_sensitivity", l1), ("l2_sensitivity", l2)):
            # Square roots are often typed by hand.
            if not math.isclose(getattr(self, name), norm, rel_tol=1e-4):
                raise ValueError(
                    f"structure {self.structure!r} with this linf_sensitivity has {name} = "
                    f"{norm:.6g}, got {getattr(self, name):.6g}"
                )
            object.__setattr__(self, name, norm)

    def _norms_added(self) -> tuple[float, float]:
        """The l1 and l2 norm of what one record adds at most."""
        if self.structure == "counts":
            width, count = self.linf_sensitivity, self.most_counts
            return width * count, width * math.sqrt(count)
        size, unit = self.size, self.linf_sensitivity / (self.size - 1)
        return unit * size * (size - 1) / 2, unit * math.sqrt(
            (size - 1) * size * (2 * size - 1) / 6
        )

    def _check_range(self) -> None:
        if not isinstance(self.element_range, (tuple, list)) or len(self.element_range) != 2:
            raise TypeError(f"element_range must be a pair (a, b), got {self.element_range!r}")
        everything = {"low": -math.inf, "high": math.inf, "allowed": "a finite number"}
        a, b = (checked_real("element_range", end, **everything) for end in self.element_range)
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
        return self.shape[0] if self.one_column else self.size

    @property
    def most_counts(self) -> int:
        """k, the number of elements to which one record adds, of an answer made of counts."""
        count = (self.l2_sensitivity / self.linf_sensitivity) ** 2
        return min(max(round(count), 1), self.size)

    @property
    def gram_change(self) -> float | None:
        """sup ||D||_F by record_bound for a Gram matrix that one record changes, else None.

        Add-remove: D = +-x x^T, so B^2. Replace: D = x x^T - y y^T with ||D||_F^2 = |x|^4 + |y|^4 -
        2 (x.y)^2, so sqrt(2) B^2 at orthogonal x and y. In one dimension none are orthogonal: B^2.
        """
        if self.structure != "gram" or self.adjacency == "local":
            return None
        orthogonal = self.adjacency == "replace" and self.shape[0] > 1
        return (math.sqrt(2) if orthogonal else 1.0) * self.record_bound**2

    @property
    def reach(self) -> float:
        """Upper bound of ||D||_2 from the l2 ball, the element box, the one column that changes and
        the records of a Gram matrix, where stated.

        Some change attains it, except for a Gram matrix whose largest change leaves the element
        box.
        """
        bounds = [self.l2_sensitivity]
        if self.linf_sensitivity is not None:
            bounds.append(self.linf_sensitivity * math.sqrt(self.changed))
        if self.gram_change is not None:
            bounds.append(self.gram_change)
        return min(bounds)

    @property
    def size(self) -> int:
        """M, the number of elements of the answer."""
        return math.prod(self.shape)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The privacy to reach: (epsilon, delta) with epsilon > 0 and 0 <= delta < 1."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checked_positive("epsilon", self.epsilon))
        delta = checked_real("delta", self.delta, low=-1.0, high=1.0, allowed="0 <= delta < 1")
        if delta < 0:
            raise ValueError(f"delta must satisfy 0 <= delta < 1, got {delta!r}")
        object.__setattr__(self, "delta", delta)
