"""The command `compose` against closed forms and dp-accounting, and its refusals."""

import json
import math
import re

import pytest
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

from mechanisms.__main__ import main
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for

GAUSSIAN = "gaussian-analytic --shape 5 --l2-sensitivity 1 --epsilon 1"


def composed(capsys, arguments: str) -> dict:
    assert main(["compose", *arguments.split(), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def gaussian(sigma: float) -> str:
    """A query and a budget at which the noise has this standard deviation."""
    return f"{GAUSSIAN} --delta {GaussianProfile(mu=1 / sigma).delta(1.0).value!r}"


def test_gaussian_releases_have_the_closed_form(capsys):
    total = GaussianProfile(mu=float(mu_for(1.0, 1e-5)) * 10)
    found = composed(capsys, f"{GAUSSIAN} --delta 1e-5 --steps 100 --at-delta 1e-6")
    assert found["mechanism"] == "gaussian-analytic" and found["delta"] == 1e-6
    assert found["epsilon"] == pytest.approx(total.epsilon(1e-6).value, rel=1e-8)
    assert found["epsilon"] * (1 - 1e-8) < found["epsilon_lower"] <= found["epsilon"]
    found = composed(capsys, f"{GAUSSIAN} --delta 1e-5 --steps 100 --at-epsilon 3")
    assert found["epsilon"] == 3.0
    assert found["delta"] == pytest.approx(total.delta(3.0).value, rel=1e-8)
    assert found["delta_lower"] <= found["delta"]


def test_gaussian_releases_on_samples_match_dp_accounting(capsys):
    sampled = f"{gaussian(1.0)} --steps 1000 --rate 0.01"
    theirs = from_gaussian_mechanism(1.0, sampling_prob=0.01).self_compose(1000)
    found, epsilon = (
        composed(capsys, f"{sampled} --at-delta 1e-5"),
        theirs.get_epsilon_for_delta(1e-5),
    )
    assert epsilon * (1 - 1e-4) < found["epsilon"] < 1.002 * epsilon
    assert 0.995 * epsilon < found["epsilon_lower"] <= epsilon
    found, delta = composed(capsys, f"{sampled} --at-epsilon 2"), theirs.get_delta_for_epsilon(2.0)
    assert delta * (1 - 1e-3) < found["delta"] < 1.03 * delta
    assert 0.95 * delta < found["delta_lower"] <= delta


def test_the_reported_number_is_the_upper_bound(capsys):
    """dp-accounting converges to 6.1877126 as its interval falls to 1e-5."""
    found = composed(capsys, f"{gaussian(1.0)} --steps 10000 --rate 0.01 --at-delta 1e-5")
    assert found["epsilon_lower"] < 6.1877126 < found["epsilon"] < 6.1877126 + 3e-4


def test_laplace_releases(capsys):
    laplace = "laplace --shape 5 --l1-sensitivity 1 --epsilon 0.5"
    found = composed(capsys, f"{laplace} --steps 1 --at-delta 0.01")
    assert found["epsilon"] == pytest.approx(0.5 + 2 * math.log1p(-0.01), rel=1e-8)
    found = composed(capsys, f"{laplace} --steps 4 --at-delta 0")
    assert found["epsilon"] == found["epsilon_lower"] == 2.0
    found = composed(capsys, f"{laplace} --steps 4 --rate 0.1 --at-delta 0")
    largest = 4 * math.log1p(0.1 * math.expm1(0.5))
    assert found["epsilon_lower"] <= largest <= found["epsilon"] < largest * (1 + 1e-9)


def test_one_release_on_a_sample_has_the_closed_form(capsys):
    """The closed form is q delta(ln(1 + (e^epsilon - 1) / q))."""
    found = composed(capsys, f"{gaussian(1.0)} --steps 1 --rate 0.2 --at-epsilon 0.5")
    exact = 0.2 * GaussianProfile(mu=1.0).delta(math.log1p(math.expm1(0.5) / 0.2)).value
    assert found["delta_lower"] <= exact * (1 + 1e-8) and exact <= found["delta"] * (1 + 1e-8)


def test_the_answer_in_words(capsys):
    assert main(["compose", *gaussian(1.0).split(), "--steps", "1000", "--at-delta", "1e-5"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "1,000 releases of gaussian-analytic on all records, add-remove"
    bounds = re.fullmatch(r"epsilon at delta 1e-05: at most (\S+), at least (\S+)", shown[1])
    most, least = map(float, bounds.groups())
    found = composed(capsys, f"{gaussian(1.0)} --steps 1000 --at-delta 1e-5")
    assert least <= found["epsilon_lower"] <= found["epsilon"] <= most < least * (1 + 1e-4)
    assert main(["compose", *gaussian(1.0).split(), "--steps", "1", "--at-delta", "0"]) == 0
    assert "epsilon at delta 0: without a bound" in capsys.readouterr().out


WISHART = "wishart --shape 3x3 --structure gram --record-bound 1 --epsilon 1 --delta 1e-5"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (f"{WISHART} --rate 0.5", 3, "adding a record and removing one reveal different"),
        (f"{gaussian(1.0)} --adjacency replace --rate 0.5", 3, "samples under --adjacency replace"),
        ("non-private --shape 8 --l2-sensitivity 1 --epsilon 1", 3, "no known privacy profile"),
        (f"{gaussian(1.0)} --rate 2", 2, "rate must be a probability"),
        (f"{gaussian(1.0)} --at-epsilon 1", 2, "--at-delta: not allowed with argument"),
    ],
)
def test_releases_without_a_bound_are_refused_in_one_line(capsys, arguments, status, words):
    asked = ["compose", *arguments.split(), "--steps", "10", "--at-delta", "1e-5"]
    try:
        assert main(asked) == status
    except SystemExit as end:
        assert end.code == status
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_asymmetric_and_replaced_releases_compose_without_samples(capsys):
    found = composed(capsys, f"{WISHART} --steps 3 --at-epsilon 1")
    assert found["delta_lower"] <= found["delta"] < 1
    replaced = composed(capsys, f"{gaussian(1.0)} --adjacency replace --steps 9 --at-epsilon 1")
    assert replaced["delta"] == pytest.approx(GaussianProfile(mu=3.0).delta(1.0).value, rel=1e-8)
