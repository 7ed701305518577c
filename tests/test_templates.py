"""Each template is a working example that passes the tests of its contract."""

import importlib.util
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import one_case
import pandas as pd
import pytest
import yaml

from claims.claim import Claim, all_claims
from claims.judges import CannotJudge, all_judges
from claims.verdicts import CONFIRMED, CONTRADICTED, NOT_RUN
from mechanisms import Budget, Inconsistent, Query, Unsupported, all_mechanisms
from mechanisms.check.checks import CHECKS, require_consistent
from mechanisms.verification.verification import verify
from runs.results import Results
from studies.base.settings import ConfigError, read_settings
from studies.base.study_settings import Surroundings

TEMPLATES = Path(__file__).resolve().parents[1] / "extend"
QUERY = Query(shape=(3, 4), l2_sensitivity=1.5)
BUDGET = Budget(epsilon=0.7, delta=1e-5)


def template(name):
    spec = importlib.util.spec_from_file_location(
        f"paper_figures.my_paper2026.{name}", TEMPLATES / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module, and drawings their paper.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize(
    ("name", "noise"), [("mechanism", "MyMechanism"), ("radial_noise", "StudentT")]
)
def test_the_mechanism_does_what_it_states(name, noise, check):
    check.require(getattr(template(name), noise).calibrate(QUERY, BUDGET))


def test_the_mechanism_keeps_what_it_claims():
    cls = template("mechanism").MyMechanism
    published = cls.calibrate(QUERY, BUDGET)
    assert verify(published).verdict == "loose"
    exact = cls.calibrate(QUERY, BUDGET, "exact")
    assert exact.profile().delta(0.7).value == pytest.approx(1e-5, rel=1e-8)
    with pytest.raises(Unsupported, match="delta > 0"):
        cls.calibrate(QUERY, Budget(epsilon=1.0, delta=0.0))


def test_radial_noise_has_an_exact_profile():
    cls = template("radial_noise").StudentT
    published = cls.calibrate(QUERY, BUDGET)
    assert verify(published).verdict == "holds"
    assert published.profile().delta(0.7).value == pytest.approx(1e-5, rel=1e-7)
    exact = cls.calibrate(QUERY, BUDGET, "exact")
    assert exact.noise.scale == pytest.approx(published.noise.scale, rel=1e-7)
    assert exact.noise.loss().mean == pytest.approx(12 * 10 / 8 * exact.noise.scale**2)
    # The mean is known where the variance of the loss is infinite.
    assert cls.calibrate(QUERY, BUDGET, freedom=3).noise.loss().cumulants[1:] == (math.inf,) * 3


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("sample_radius", lambda radius: radius**2, "norm of the noise .* has a distribution"),
        ("sample_radius", lambda radius: 1.2 * radius, "norm of the noise .* has a distribution"),
        ("log_moments", lambda logs: (*(log + 0.1 for log in logs),), "log_density gives"),
    ],
)
def test_a_radius_or_a_moment_that_is_not_that_of_the_density_is_found(
    monkeypatch, name, wrong, message
):
    module = template("radial_noise")
    right = getattr(module.StudentTNoise, name)
    monkeypatch.setattr(module.StudentTNoise, name, lambda *given: wrong(right(*given)))
    # The fourth moment of the squared norm is infinite, so no check compares its mean.
    with pytest.raises((Inconsistent, ValueError), match=message):
        require_consistent(module.StudentT.calibrate(QUERY, BUDGET, freedom=5), seed=1)


def test_the_mechanism_without_noise_keeps_what_it_claims():
    cls = template("mechanism_without_noise").MyBits
    query = Query(shape=(2, 3), element_range=(0.0, 1.0), adjacency="local")
    bits = cls.calibrate(query, Budget(epsilon=1.2))
    found = verify(bits)
    assert found.verdict == "holds"
    assert found.comparison.releases > 1000
    # The stated odds of a bit, with no privacy to spare: six bits have a loss of 1.2 together.
    kept = bits.releases(np.ones(query.shape), np.random.default_rng(0), 20_000).mean()
    assert kept == pytest.approx(1 / (1 + np.exp(-0.2)), abs=0.01)
    assert found.true_epsilon.value == pytest.approx(1.2)
    with pytest.raises(Unsupported, match="needs bits"):
        cls.calibrate(QUERY, BUDGET)


def test_the_option_of_the_mechanism_is_checked_and_its_default_is_the_best():
    cls = template("mechanism").MyMechanism
    best = cls.calibrate(QUERY, BUDGET).expected_loss()
    assert best < min(cls.calibrate(QUERY, BUDGET, order=a).expected_loss() for a in (30.0, 40.0))
    with pytest.raises(ValueError, match="option order must be a number > 1"):
        cls.calibrate(QUERY, BUDGET, order=1)


def test_the_noise_has_the_moments_and_the_privacy_that_it_states():
    noise = template("noise").TwoScales(shape=(2, 3), sigma=1.3)
    draws = noise.sample(np.random.default_rng(1), 200_000)
    losses = (draws**2).sum(axis=(1, 2))
    moments = noise.loss()
    assert losses.mean() == pytest.approx(moments.mean, abs=5 * losses.std() / 200_000**0.5)
    assert losses.var() == pytest.approx(moments.variance, rel=0.02)
    assert noise.scaled(2.0).loss().mean == pytest.approx(4 * moments.mean)
    assert noise.sample(np.random.default_rng(1), 2, np.float32).dtype == np.float32
    # The worst change is in the half with the smaller noise.
    profile = noise.profile(Query(shape=(2, 3), l2_sensitivity=1.0))
    assert profile.mu == pytest.approx(1 / 1.3)


@pytest.fixture
def run_study(monkeypatch):
    """Returns a function that runs the study for one mechanism and returns its rows."""
    study = template("study").MyStudy()
    monkeypatch.setattr(one_case, "study_named", lambda name: study)

    def rows(key, **changes):
        near = Surroundings(study=study, available=all_mechanisms(), sets={})
        raw = {"datasets": ["coins"], "epsilons": [1.0], "delta": 1e-5, "mechanisms": [key]}
        settings = read_settings(study.Settings, raw | changes, "studies.my_study", near)
        case = one_case.case_of(one_case.setup_of("my_study", "coins", settings), key)
        return pd.DataFrame(
            {
                "study": "my_study", "mechanism": key, "calibration": "published",
                "epsilon": 1.0, "status": "ok", "metric": value.metric,
                "value": value.value, "trial": value.trial, **value.at,
            }
            for value in one_case.measured(case)
        )  # fmt: skip

    return rows


def test_the_study_measures_what_it_declares(run_study):
    rows = run_study("gaussian", trials=400)
    errors = rows[rows["metric"] == "squared_error"]["value"]
    expected = rows[rows["metric"] == "expected_loss"]["value"].item() / 10
    assert errors.mean() == pytest.approx(expected, rel=0.1)
    assert len(errors) == 800


def test_the_study_refuses_settings_that_do_not_fit(run_study):
    with pytest.raises(ConfigError, match=r"size: must be even, to have two halves, got 3"):
        run_study("gaussian", size=3)


def test_the_claim_is_judged_from_the_study(run_study):
    module = template("claim")
    about, entry = yaml.safe_load((TEMPLATES / "claim.yaml").read_text())
    claim = Claim(**entry, paper="my_paper2026", about=about)
    assert module.coins_error.judge.name == claim.judge
    results = Results(run_study("gaussian", trials=20))
    given = claim.arguments | {"margin": claim.margin}
    module.coins_error.judge.schema.model_validate(given)
    for largest, verdict in ((1e3, CONFIRMED), (1e-9, CONTRADICTED)):
        finding = module.coins_error(results, **given | {"largest": largest})
        assert [part.verdict for part in finding.parts] == [verdict]
    with pytest.raises(CannotJudge, match="no rows of gaussian"):
        module.coins_error(Results(run_study("laplace")), **given)
    drawn = module.coins_figure(results)
    assert drawn.data["mechanism"].tolist() == ["gaussian"]
    (line,) = drawn.figure.axes[0].lines
    assert list(line.get_ydata()) == drawn.data["value"].tolist()


def test_the_claim_without_a_judge_is_not_run(tmp_path, monkeypatch):
    home = tmp_path / "my_paper2026"
    home.mkdir()
    shutil.copy2(TEMPLATES / "claim_without_judge.yaml", home / "claims.yaml")
    monkeypatch.setattr("claims.claim.HOMES", tmp_path)
    (claim,) = all_claims()
    assert (claim.id, claim.paper) == ("my-claim", "my_paper2026")
    assert all_judges()[claim.judge].decide(None, claim.arguments).verdict == NOT_RUN
