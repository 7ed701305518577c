"""Labels of true and false guarantees, each by another method than the one that made it."""

import json
import math
from collections import Counter

import mpmath as mp
import numpy as np
import pytest
import scipy

from mechanisms.__main__ import main
from mechanisms.verification.labelled_guarantees import labelled_guarantees

CASES = list(labelled_guarantees(seed=20261125, count=40))


def gaussian(mu, epsilon):
    a = epsilon / mu - mu / 2
    return mp.ncdf(-a) - mp.exp(epsilon) * mp.ncdf(-a - mu)


def by_another_method(case) -> float:
    """delta at epsilon from the density: closed forms in mpmath, a sum, and an integral."""
    noise, epsilon, shift = case["noise"], mp.mpf(case["epsilon"]), case["sensitivity"]["value"]
    if case["family"] == "gaussian":
        return gaussian(mp.mpf(shift) / noise["sigma"], epsilon)
    if case["family"] == "laplace":
        return 1 - mp.exp((epsilon - mp.mpf(shift) / noise["b"]) / 2)
    if case["family"] == "discrete-gaussian":
        variance = mp.mpf(noise["sigma"]) ** 2
        numbers = range(-400, 401)
        law = {x: mp.exp(-x * x / (2 * variance)) for x in numbers}
        gains = (law[x] - mp.exp(epsilon) * law[x - 1] for x in numbers[1:])
        return sum(max(gain, 0) for gain in gains) / sum(law.values())
    if case["family"] == "sampled-gaussian":
        # The mean of the gain over the noise along the change, where it is positive.
        mu, q = mp.mpf(shift) / noise["sigma"], noise["q"]
        start = (mp.log1p(mp.expm1(epsilon) / q) + mu**2 / 2) / mu

        def gain(x):
            return q * mp.npdf(x - mu) + (1 - q - mp.exp(epsilon)) * mp.npdf(x)

        return mp.quad(gain, [start, start + 3, start + 8, start + 40])
    return of_the_l2_mechanism(case["size"], shift / noise["b"], case["epsilon"])


def of_the_l2_mechanism(size: int, shift: float, epsilon: float) -> float:
    """P(loss > epsilon) - e^epsilon Q(loss > epsilon): caps of spheres, averaged over radii."""
    radius, step = np.linspace(0, size + 12 * math.sqrt(size) + 30, 40_000, retstep=True)
    radius = radius[1:]
    law = step * np.exp(scipy.stats.gamma(size).logpdf(radius))

    def cap(cosine):
        return scipy.stats.beta((size - 1) / 2, (size - 1) / 2).sf((1 + cosine) / 2)

    both = 2 * radius * shift
    p = cap((epsilon**2 + 2 * radius * epsilon - shift**2) / both)
    q = cap((shift**2 + 2 * radius * epsilon - epsilon**2) / both)
    return float(law @ (p - math.exp(epsilon) * q))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_label_is_right_by_another_method(case):
    # The integral of the l2 mechanism has a kink, and cancels digits.
    within = 1e-4 if case["family"] == "l2" else 1e-8
    with mp.workdps(30):
        truth = float(by_another_method(case))
    assert case["exact_delta"]["value"] == pytest.approx(truth, rel=within)
    assert case["holds"] == (truth <= case["delta"])


def test_all_families_have_both_labels():
    counts = Counter((case["family"], case["holds"]) for case in CASES)
    assert len(counts) == 10
    assert 10 <= sum(case["holds"] for case in CASES) <= 30


def test_a_seed_gives_the_same_guarantees_and_the_command_prints_them(capsys):
    assert main(["guarantees", "--seed", "20261125", "--count", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == CASES[:3]
    assert main(["guarantees", "--seed", "5", "--count", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["id"] for line in printed] == ["5-0", "5-1"]
    assert main(["guarantees", "--seed", "5", "--count", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == printed
