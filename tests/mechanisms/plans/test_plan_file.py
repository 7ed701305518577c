"""Plans in files: what they may hold, the line of a mistake, and what the command prints."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.__main__ import main
from mechanisms.plans.plan import Parallel, Release, Search, compose, noise_factor
from mechanisms.plans.plan_file import read_plan
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile


@pytest.fixture
def plan(tmp_path):
    """Write a plan with these releases, and return its path."""

    def write(releases: str, top: str = "") -> str:
        path = tmp_path / "plan.yaml"
        path.write_text(f"{top}releases:\n{releases}")
        return str(path)

    return write


def test_a_plan_is_read(plan):
    found = read_plan(
        plan(
            "  - {gaussian: 2, times: 1e2, rate: 0.5, adjacency: replace, fixed: true, name: a}\n"
            "  - parallel: [{laplace: 4}, {gaussian: 5}]\n"
            "  - search: {runs: 3, eta: poisson, releases: [{laplace: 5}]}\n"
            "  - mechanism: laplace\n"
            "    query: {shape: [2, 2], l1_sensitivity: 2}\n"
            "    epsilon: 0.5\n",
            "adjacency: replace\ngroup: 2\nepsilon: [1, 2]\ndelta: 1e-6\nattack: 0.1\n"
            "budget: {epsilon: 1, delta: 1e-5}\n",
        )
    )
    first, parallel, search, last = found.releases
    half = GaussianProfile(mu=0.5)
    assert first == Release(of=half, times=100, rate=0.5, adjacency="replace", fixed=True)
    quarter = LaplaceProfile(l1_sensitivity=1.0, scale=4.0)
    assert parallel == Parallel((Release(of=quarter), Release(of=GaussianProfile(mu=0.2))))
    assert search == Search(
        releases=(Release(of=LaplaceProfile(l1_sensitivity=1.0, scale=5.0)),), runs=3.0, eta=None
    )
    assert last.profile == LaplaceProfile(l1_sensitivity=2.0, scale=4.0)
    assert found.names == ("a", "parallel 2", "search 3", "mechanism 4")
    assert (found.adjacency, found.group, found.rates) == ("replace", 2, (0.1,))
    assert (found.epsilons, found.deltas) == ((1.0, 2.0), (1e-6,))
    assert (found.budget.epsilon, found.budget.delta) == (1.0, 1e-5)


@pytest.mark.parametrize(
    ("releases", "words"),
    [
        ("  - {gaussian: 0}\n", "line 2: releases[0].gaussian must be the scale of the noise"),
        ("  - {gaussian: 1e-309}\n", "line 2: releases[0].gaussian must be the scale of the noise"),
        ("  - {laplace: 1e-307}\n", "line 2: releases[0].laplace must be the scale of the noise"),
        (
            "  - gaussian: 1\n    rate: 2\n",
            "line 3: releases[0].rate must be a number in [1e-300, 1]",
        ),
        ("  - gaussian: 1\n    tims: 2\n", "line 3: unknown key releases[0].tims; did you mean"),
        ("  - {gaussian: 1, times: 1.5}\n", "releases[0].times must be a whole number from 1"),
        ("  - {gaussian: 1, times: .inf}\n", "line 2: releases[0].times must be a whole number"),
        (f"  - {{gaussian: 1{'0' * 400}}}\n", "line 2: releases[0].gaussian must be the scale"),
        ("  - {gaussian: 1}\nepsilon: .inf\n", "line 3: epsilon must be numbers >= 0, got inf"),
        ("  - {gaussian: 1, fixed: 1}\n", "releases[0].fixed must be true or false, got 1"),
        ("  - {gaussian: 1, laplace: 1}\n", "exactly one of mechanism, gaussian, laplace"),
        ("  - {times: 2}\n", "guarantee, parallel, search, got none"),
        ("  - 3\n", "line 2: releases[0] must be a mapping, got 3"),
        ("  []\n", "releases must be a list of releases"),
        ("  - parallel: [{laplace: x}]\n", "line 2: releases[0].parallel[0].laplace must be"),
        (
            "  - search: {runs: 1, releases: [{laplace: 1}]}\n",
            "line 2: releases[0].search: runs must be > 1",
        ),
        ("  - {guarantee: {delta: 0.1}}\n", "releases[0].guarantee.epsilon is missing"),
        ("  - {guarantee: {epsilon: 1, delta: 2}}\n", "guarantee.delta must be a number in [0, 1)"),
        ("  - {mechanism: lapace, query: {shape: 2, l1_sensitivity: 1}, epsilon: 1}\n", "laplace"),
        ("  - {mechanism: laplace, query: {shape: 2}, epsilon: 1}\n", "l2_sensitivity is missing"),
        ("  - {mechanism: laplace, query: {shpe: 2}}\n", "releases[0].query.shpe; did you mean"),
        ("  - {mechanism: laplace, query: {shape: 2, l2_sensitivity: 1}}\n", "epsilon is missing"),
        (
            "  - mechanism: gaussian-analytic\n    query: {shape: 2, l2_sensitivity: 1}\n"
            "    epsilon: 1\n",
            "releases[0]: it needs delta > 0",
        ),
        ("  - {gaussian: 1, gaussian: 2}\n", "line 2: the key 'gaussian' appears twice"),
        ("  - {gaussian: 1, adjacency: replace}\n", "stated for replace and the plan for add-rem"),
    ],
)
def test_a_mistake_is_one_line(plan, capsys, releases, words):
    assert main(["compose", plan(releases)]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert said.err.count("\n") == 1
    assert words in said.err


def test_the_command_prints_bounds_and_noise(plan, capsys):
    path = plan(
        "  - {gaussian: 1, name: means}\n  - {gaussian: 2}\n",
        "group: 2\ndelta: 1e-6\nbudget: {epsilon: 1, delta: 1e-6}\n",
    )
    assert main(["compose", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    one = GaussianProfile(mu=1.25**0.5)
    assert found["epsilon"][0]["lower"] == pytest.approx(one.epsilon(1e-6).value)
    assert found["epsilon"][0]["upper"] == pytest.approx(one.scaled(0.5).epsilon(1e-6).value)
    factor = one.scaled(0.5).scale_factor(1.0, 1e-6)
    assert factor <= found["noise_factor"] <= factor * 1.0001
    assert found["noise"]["means"] == {"noise multiplier": pytest.approx(factor, rel=1e-4)}
    assert main(["compose", path]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Neighbours: add-remove, groups of 2.\nepsilon at delta 1e-06: 5.55")
    assert "(1, 1e-06)-DP: multiply the noise by" in printed


def test_a_plan_without_questions_is_answered_at_one_delta(plan, capsys):
    assert main(["compose", plan("  - {guarantee: {epsilon: 1, delta: 1e-3}}\n")]) == 0
    assert "epsilon at delta 1e-05: at least 0, no upper bound" in capsys.readouterr().out


@pytest.mark.parametrize("delta", [1e-5, 1e-300])
def test_a_guarantee_holds_at_its_own_delta(plan, delta):
    """And at no less: curves of delta are rounded up, the question at this delta is not."""
    total = compose(read_plan(plan(f"  - guarantee: {{epsilon: 1, delta: {delta}}}\n")).releases)
    assert total.epsilon(delta).upper == 1.0
    assert total.epsilon(math.nextafter(delta, 0)).upper == math.inf
    assert delta <= total.delta(1.0).upper <= delta * (1 + 1e-11)


@pytest.mark.parametrize(
    ("releases", "epsilon", "delta"),
    [
        # As floats, 3 x 0.1 is above 0.3, and 3 x 1e-30 above 3e-30.
        ([(0.1, 1e-6, 3)], 0.3, 3e-6),
        ([(0.1, 1e-30, 3)], 0.3, 3e-30),
        ([(0.1, 1e-200, 3), (0.2, 0, 1)], 0.5, 3e-200),
        ([(1, 3e-7, 1), (0.3, 7e-7, 2), (0.25, 0, 4)], 2.6, 1.7e-6),
    ],
)
def test_guarantees_add_up_exactly(plan, releases, epsilon, delta):
    """By basic composition of what is written; beyond, delta is 1 - prod (1 - delta)."""
    lines = (
        f"  - {{guarantee: {{epsilon: {each}, delta: {share}}}, times: {times}}}\n"
        for each, share, times in releases
    )
    total = compose(read_plan(plan("".join(lines))).releases)
    found = total.epsilon([math.nextafter(delta, 0), delta]).upper
    assert found[0] > epsilon >= found[1]
    left = math.prod((1 - Fraction(str(share))) ** times for _, share, times in releases)
    beyond = total.delta(np.array([0.5, 1.0, 2.0]) * epsilon).upper
    assert (beyond >= 1 - left).all() and beyond[-1] <= float(1 - left) * (1 + 1e-11)
    # At less than the probability that a release tells the truth no epsilon is enough.
    assert total.epsilon(math.nextafter(float(1 - left), 0)).upper == math.inf


def test_a_guarantee_on_a_sample_of_half_the_records(plan):
    """At half of its delta epsilon is ln(1 + (e^1 - 1) / 2)."""
    total = compose(
        read_plan(plan("  - {guarantee: {epsilon: 1, delta: 1e-6}, rate: 0.5}\n")).releases
    )
    found = total.epsilon(0.5e-6).upper
    assert math.log1p(math.expm1(1) / 2) <= found <= math.log1p(math.expm1(1) / 2) * (1 + 1e-12)
    assert total.epsilon(math.nextafter(0.5e-6, 0)).upper == math.inf


@pytest.mark.parametrize(
    "releases",
    [
        "  - guarantee: {epsilon: 2, delta: 1e-6}\n",
        "  - parallel: [{laplace: 1}, {guarantee: {epsilon: 2, delta: 1e-6}}]\n",
        "  - {guarantee: {epsilon: 1.5, delta: 1e-6}}\n  - {laplace: 2}\n",
    ],
)
def test_noise_for_a_guarantee_at_its_own_delta(plan, releases):
    factor = noise_factor(read_plan(plan(releases)).releases, 1.0, 1e-6)
    assert 2 <= factor <= 2.0002


@pytest.mark.parametrize("power", [-6, -30])
@pytest.mark.parametrize("times", [3, 10, 30, 1000])
def test_a_budget_that_guarantees_just_fill(plan, times, power):
    """As floats, 3 x 1e-30 is above 3e-30: no noise would then be enough."""
    releases = f"  - {{guarantee: {{epsilon: 0.1, delta: 1e{power}}}, times: {times}}}\n"
    delta = float(f"{times}e{power}")
    assert noise_factor(read_plan(plan(releases)).releases, times / 10, delta) <= 1.0001


@pytest.mark.parametrize(
    ("releases", "epsilon"),
    [([(0.7, 1), (0.1, 1)], 0.8), ([(0.7, 3)], 2.1), ([(0.1, 3)], 0.3)],
)
def test_pure_guarantees_add_up(plan, releases, epsilon):
    """As floats, 0.7 + 0.1 is below what is written as 0.8, and 3 x 0.1 above 0.3."""
    lines = (
        f"  - {{guarantee: {{epsilon: {each}, delta: 0}}, times: {times}}}\n"
        for each, times in releases
    )
    total = compose(read_plan(plan("".join(lines))).releases)
    assert total.epsilon(0.0).upper == epsilon
    found = total.delta([math.nextafter(epsilon, 0), epsilon]).upper
    assert found[0] > 0 == found[1]
