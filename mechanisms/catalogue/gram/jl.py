"""The Johnson-Lindenstrauss transform: it releases random combinations of the records."""

import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.base.exact_calibration import exact_factor
from mechanisms.base.guard import ROUNDING
from mechanisms.base.mechanism import Mechanism
from mechanisms.privacy.chi_square_profile import RaisedVarianceProfile, SwappedVariancesProfile
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.option import Option, is_count
from mechanisms.query.query import Budget, Query, Unsupported

GRAM_ROWS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class JohnsonLindenstrauss(Mechanism):
    """r independent draws of N(0, A + w^2 I), where A = sum x x^T over the records x, ||x|| <= B.

    The draws are Gaussian combinations of the records after every singular value s of the data
    matrix is lifted to sqrt(s^2 + w^2). The release depends on the query's structure:

    - "gram": the value is A (d, d). The release is (1/r) Y^T Y - w^2 I, with the draws as the rows
      of Y (r, d). It is unbiased, with standard error (e^T A e + w^2) sqrt(2 / r) along a unit
      vector e. For r >= d it is drawn as a Wishart matrix (Bartlett 1933), in O(d^3) for any r.
    - "records": the value is X (m, n) with one record per column. The release is Y (m, n), whose
      columns are the draws over sqrt(r), with r = n so that it has the query's shape. It does not
      estimate single records: E Y = 0 and E Y Y^T = X X^T + w^2 I, from which a user subtracts
      w^2 I.

    The calibration is Algorithm 3 of Blocki, Blum, Datta and Sheffet (FOCS 2012) for a covariance,
    w = (16 B' / epsilon) sqrt(r ln(2 / delta)) ln(16 r / delta). The formula was not checked
    against the paper; the profile holds for any w. Three choices were made here. In the paper a row
    changes by a vector of norm at most 1, so B' = B under add-remove (an absent record is a zero
    column) and B' = 2 B under replace. The mean is not subtracted. The transform of a general
    matrix (Upadhyay 2014, Circulant matrices and differential privacy, a baseline of mvg2018) has
    the same calibration.

    The profile is exact (mechanisms/privacy/chi_square_profile.py); the exact calibration has the
    least w that meets the budget. The wasted variance in `verify` is a ratio of w^2, the variance
    of the noise w z that lifting adds to every Gaussian combination.

    Args:
        w: Standard deviation that lifting adds in every direction, in units of a record; > 0.
        rows: r, at least 1.
    """

    key = "jl"
    title = "Johnson-Lindenstrauss"
    paper = "Blocki et al. 2012"
    theorem = "Algorithm 3 (covariance); for a general matrix Upadhyay 2014"
    guarantee = "approximate"
    look = ("#6F4C9B", "2", 17)
    options = {
        "rows": Option(
            None,
            f"an integer >= 1, or null: {GRAM_ROWS} for a gram matrix, n for n records",
            lambda rows: rows is None or is_count(rows),
            "r, the number of Gaussian combinations; for n records it must be n",
        )
    }

    w: float
    rows: int

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if query.structure not in ("records", "gram"):
            raise Unsupported(
                "needs structure 'records' or structure 'gram': how records make up the answer"
            )
        if query.adjacency == "local":
            raise Unsupported(
                "needs adjacency add-remove or replace: it protects one record among others"
            )
        rows = settings["rows"]
        if query.structure == "records":
            columns = query.shape[1]
            if rows not in (None, columns):
                raise ValueError(f"option rows must be {columns} or null for records, got {rows}")
            rows = columns
        rows = int(rows or GRAM_ROWS)
        published = cls(
            query=query,
            budget=budget,
            settings=settings,
            w=published_w(query, budget, rows),
            rows=rows,
        )
        if calibration == "published":
            return published
        return replace(published, calibration="exact", w=published.w * exact_factor(published))

    def _release(self, value, rng):
        draw = self._gram if self.query.structure == "gram" else self._combinations
        return draw(value, rng).astype(value.dtype, copy=False)

    def parameters(self):
        """Return w, and r as "rows"."""
        return {"w": self.w, "rows": self.rows}

    def profile(self) -> PrivacyProfile:
        """Return the exact profile, see `mechanisms.privacy.chi_square_profile`."""
        replaced = self.query.adjacency == "replace" and self.query.shape[0] > 1
        family = SwappedVariancesProfile if replaced else RaisedVarianceProfile
        return family(rows=self.rows, ratio=self.query.record_bound / self.w)

    def _gram(self, gram: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        values, vectors = _spectrum(gram)
        size = len(gram)
        if self.rows >= size:
            draws = _wishart_root(size, self.rows, rng)
        else:
            draws = rng.standard_normal((size, self.rows))
        draws = (vectors * np.sqrt((values + self.w**2) / self.rows)) @ draws
        return draws @ draws.T - self.w**2 * np.eye(size)

    def _combinations(self, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        # (X X^T + w^2 I)^(1/2) = w I + U (sqrt(s^2 + w^2) - w) U^T for X = U s V^T.
        directions, singular, _ = np.linalg.svd(records.astype(float), full_matrices=False)
        lift = singular**2 / (np.hypot(singular, self.w) + self.w)
        draws = rng.standard_normal(records.shape)
        along = (directions * lift) @ (directions.T @ draws)
        return (self.w * draws + along) / math.sqrt(self.rows)


def published_w(query: Query, budget: Budget, rows: int) -> float:
    """Return w of Algorithm 3: (16 B' / epsilon) sqrt(r ln(2 / delta)) ln(16 r / delta)."""
    change = query.record_bound * (2 if query.adjacency == "replace" else 1)
    root = math.sqrt(rows * math.log(2 / budget.delta))
    return change * 16 * root / budget.epsilon * math.log(16 * rows / budget.delta)


def _wishart_root(size: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a lower triangular T (size, size) with T T^T ~ Wishart(I, rows), for rows >= size."""
    root = np.tril(rng.standard_normal((size, size)), -1)
    np.fill_diagonal(root, np.sqrt(rng.chisquare(rows - np.arange(size))))
    return root


def _spectrum(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, at least 0, and eigenvectors.

    Raises:
        ValueError: An eigenvalue is negative beyond rounding.
    """
    values, vectors = np.linalg.eigh(gram.astype(float))
    if values[0] < -ROUNDING[gram.dtype] * np.abs(values).max():
        raise ValueError(
            f"a gram matrix must be positive semi-definite, got the eigenvalue {values[0]:g}"
        )
    return np.maximum(values, 0.0), vectors
