"""Formulas of matrix-variate Gaussian noise against numbers from other sources."""

import math

import pytest

from claims.matrix_formulas import expected_norm, inequality, matrix_normal_density, norm_bound
from claims.verdicts import CONFIRMED


def test_the_norm_bound_against_the_normal_tail():
    finding = norm_bound(lengths=[1], deltas=[0.1])
    assert finding.verdict == "confirmed"
    zeta = 2 * math.sqrt(math.log(10)) + 2 * math.log(10) + 1
    share = math.erfc(math.sqrt(zeta / 2)) / 0.1
    assert float(finding.numbers.split("at most ")[1].split()[0]) == pytest.approx(share, rel=0.01)


def test_an_inequality_that_is_false_once_is_contradicted():
    for most, verdict in ((1.0, "confirmed"), (1.1, "contradicted")):
        cases = iter([0.5, most])
        found = inequality(lambda rng, m, n, cases=cases: next(cases), [(1, 2)], 2, "")
        assert found.verdict == verdict


def test_the_norm_of_the_noise_has_its_formula():
    assert expected_norm(shape=(2, 3), draws=4000, tolerance=1e-9).verdict == CONFIRMED


@pytest.mark.parametrize(
    ("rows", "columns", "verdict"), [(5, 3, "confirmed"), (3, 5, "contradicted")]
)
def test_every_factor_has_the_exponent_of_the_other_side(rows, columns, verdict):
    finding = matrix_normal_density(shape=(3, 5), rows=rows, columns=columns)
    assert finding.verdict == verdict
    # For square answers both exponents are the same.
    assert matrix_normal_density(shape=(4, 4), rows=4, columns=4).verdict == "confirmed"
