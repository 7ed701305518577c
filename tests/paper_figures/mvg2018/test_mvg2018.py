"""mvg2018's queries, releases, precision budgets and studies: brute force and made-up trials.

The trials lie around chosen means, at the paper's data and budget, so that the answer is known.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from claims.claim import all_claims
from claims.verdicts import CONFIRMED, CONTRADICTED, NOT_FOUND, PARTLY
from mechanisms.catalogue.mvg import precision_bound
from paper_figures.mvg2018 import draws, theorems
from paper_figures.mvg2018.compared_study import STUDIES
from paper_figures.mvg2018.draws import COMPONENT, drawn_ahead_of_a_guess
from paper_figures.mvg2018.figures import comparison_table, figure_4, table_3, table_6
from paper_figures.mvg2018.theorems import distance_of_algorithm_1
from paper_figures.mvg2018.verdicts import (
    ahead_of_a_guess,
    error_above,
    study_times,
)
from papers.mvg2018 import (
    COVARIANCE,
    REGRESSION,
    SETTINGS,
    binary_allocation,
    record_covariance,
    scaled_records,
)
from runs.results import read_results
from studies.base.principal_components import captured_variance, principal_directions


@pytest.mark.parametrize("share", [0.55, 0.95])
@pytest.mark.parametrize("informative", [[0], [4, 1], [0, 1, 2, 3]])
def test_binary_allocation(informative, share):
    theta = np.array(binary_allocation(5, informative, share))
    assert theta.sum() == pytest.approx(1, abs=1e-15)
    assert theta[informative].sum() == pytest.approx(share, rel=1e-14)
    assert np.ptp(theta[informative]) == 0
    assert np.ptp(np.delete(theta, informative)) == 0


def records_of(rng, features, count):
    """Records in the box, half of them at its corners."""
    inside = rng.uniform(-1, 1, (count, features))
    return np.where(rng.random((count, 1)) < 0.5, np.sign(inside), inside)


def test_a_replaced_record_changes_the_covariance_by_at_most_the_sensitivities():
    rng = np.random.default_rng(4)
    features, size = 6, 10
    query = record_covariance(features, size)
    x, y = records_of(rng, features, 20_000), records_of(rng, features, 20_000)
    changes = (x[:, :, None] * x[:, None, :] - y[:, :, None] * y[:, None, :]) / size
    assert np.linalg.norm(changes, axis=(1, 2)).max() <= query.reach * (1 + 1e-12)
    assert np.abs(changes).sum(axis=(1, 2)).max() <= query.l1_sensitivity
    assert np.abs(changes).max() <= query.linf_sensitivity
    assert (x**2).sum(axis=1).max() / size <= query.record_bound**2 * (1 + 1e-12)
    # Changing half of the signs attains the least l2 sensitivity.
    one, half = np.ones(features), np.repeat([1.0, -1.0], features // 2)
    worst = np.linalg.norm(np.outer(one, one) - np.outer(half, half)) / size
    assert worst == pytest.approx(query.reach, rel=1e-12)
    assert record_covariance(4, 2021).l2_sensitivity == 8 / 2021


def test_a_replaced_record_changes_one_column_by_at_most_the_sensitivities():
    query = scaled_records(6, 248)
    change = np.full(6, 2.0)
    assert query.l2_sensitivity == pytest.approx(np.linalg.norm(change), rel=1e-15)
    assert query.l1_sensitivity == change.sum()
    assert query.linf_sensitivity == 2.0
    assert query.one_column
    assert query.record_bound == pytest.approx(math.sqrt(6))
    assert query.frobenius_bound == pytest.approx(math.sqrt(6 * 248))


CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "mvg2018"}


@pytest.mark.parametrize(
    ("mode", "factor", "expected"),
    [
        (None, 1.0, CONFIRMED),
        ("unimodal", 0.999, PARTLY),
        ("equimodal", 0.999, PARTLY),
        (("unimodal", "equimodal"), 1.001, CONTRADICTED),
    ],
)
def test_the_budget_is_spent_to_the_last(mode, factor, expected, monkeypatch):
    calibrated = theorems.calibrated

    def louder(key, query, budget, **options):
        mechanism = calibrated(key, query, budget, **options)
        wrong = mode is not None and options["mode"] in mode
        noise = mechanism.noise
        noise = replace(noise, row_std=noise.row_std * (factor if wrong else 1.0))
        return replace(mechanism, noise=noise)

    monkeypatch.setattr(theorems, "calibrated", louder)
    given = CLAIMS["mvg-budgets"].arguments | {"draws": 3}
    assert theorems.precision_budgets(**given).verdict == expected


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_bound_of_theorem_3_as_it_is_printed(setting):
    query = setting.query
    (m, n), s, gamma = query.shape, query.l2_sensitivity, query.frobenius_bound
    orders, log = np.arange(1, min(m, n) + 1), np.log(setting.budget.delta)
    harmonic = np.sum(1 / orders)
    alpha = (harmonic + np.sum(orders**-0.5)) * gamma**2 + 2 * harmonic * gamma * s
    beta = 2 * (m * n) ** 0.25 * harmonic * s * (2 * np.sqrt(-m * n * log) - 2 * log + m * n)
    # The difference cancels, so it needs extended precision.
    alpha, beta = np.longdouble(alpha), np.longdouble(beta)
    root = np.sqrt(beta**2 + 8 * alpha * setting.budget.epsilon)
    printed = float((-beta + root) ** 2 / (4 * alpha**2))
    assert precision_bound(query, setting.budget, "published") == pytest.approx(printed)


@pytest.mark.parametrize(
    ("setting", "zeta", "distance"),
    [
        (REGRESSION, "published", 3.0961e-5),
        (REGRESSION, "sqrt", 1.2691e-3),
        (COVARIANCE, "published", 5.5773e-7),
        (COVARIANCE, "sqrt", 1.1940e-4),
    ],
)
def test_distances_of_the_studies(setting, zeta, distance):
    found = distance_of_algorithm_1(setting, zeta)
    assert found == pytest.approx(distance, rel=1e-4)


@pytest.mark.parametrize(
    ("treatment", "mean"),
    # From 200,000 draws with the SVD of another program.
    [("anc1-anc2", 0.4882), ("anc3", 0.4997), ("iid", 0.5060), ("anc0-anc3", 0.5238),
     ("anc0", 0.5354)],
)  # fmt: skip
def test_mean_errors_of_the_component(treatment, mean):
    """They are averaged over all shares, and the best share is among them."""
    shares = draws.SHARES[:1] if treatment == "iid" else draws.SHARES
    by_share = [COMPONENT.draw(treatment, share, 10_000) for share in shares]
    assert COMPONENT.best(10_000, treatment).mean() == min(each.mean() for each in by_share)
    errors = np.mean(by_share, axis=0)
    assert errors.min() >= 0
    assert errors.mean() == pytest.approx(mean, abs=4 * errors.std() / 100)


def test_few_draws_do_not_show_that_the_best_share_is_worse_than_a_random_component():
    assert drawn_ahead_of_a_guess(numeral="II", margin=0.037, draws=5000).verdict == NOT_FOUND


@pytest.mark.parametrize(
    ("treatment", "scaling"),
    [("fhr-asv-alv", "columns"), ("wrong", "largest"), ("iid", "columns"), ("iid", "largest")],
)
def test_the_covariance_of_a_release_by_its_parts_and_as_a_whole(treatment, scaling):
    """The noise is as large as the data, so that all parts of the decomposition matter."""
    exact, records = draws.MOMENTS[scaling], COVARIANCE.query.shape[1]
    deviations = np.linspace(0.5, 2, len(exact))[:, None] * {"iid": 1, "wrong": 2}.get(treatment, 3)
    rng = np.random.default_rng(3)
    root = np.linalg.cholesky(records * exact + 1e-9 * np.eye(len(exact)))
    data = root @ np.linalg.qr(rng.standard_normal((records, len(exact))))[0].T
    whole = []
    for _ in range(300):
        released = data + deviations * rng.standard_normal(data.shape)
        directions = principal_directions(released @ released.T)[1]
        captured = captured_variance(exact, directions)
        whole.append(((np.linalg.eigvalsh(exact)[::-1] - captured) ** 2).sum())
    parts = draws._errors_of(rng, exact, deviations, 3000)
    assert parts.mean() == pytest.approx(np.mean(whole), abs=4 * np.std(whole) / 300**0.5)


@pytest.mark.parametrize("scaling", draws.SCALINGS)
def test_the_rss_of_a_random_answer(scaling):
    exact = draws.MOMENTS[scaling]
    answers = np.linalg.qr(np.random.default_rng(1).standard_normal((5000, *exact.shape)))[0]
    captured = np.array([captured_variance(exact, each) for each in answers])
    errors = ((np.linalg.eigvalsh(exact)[::-1] - captured) ** 2).sum(axis=1)
    assert draws.random_rss(exact) == pytest.approx(errors.mean(), abs=4 * errors.std() / 5000**0.5)


def test_the_covariance_and_the_draws_of_experiment_iii_agree_with_the_study():
    rows = read_results([Path("results/reference/studies/covariance.parquet")]).rows
    (largest,) = set(rows[rows["metric"] == "largest_eigenvalue"]["value"])
    assert np.linalg.eigvalsh(draws.MOMENTS["columns"])[-1] == pytest.approx(largest, rel=1e-12)
    own = rows[(rows["metric"] == "rss") & (rows["calibration"] == "published")]
    trials = own[(own["mechanism"] == "mvg") & (own["treatment"] == "iid")]["value"]
    drawn = draws.RECORDS.draw("iid", 0.5, 2000)
    spread = np.hypot(trials.sem(), drawn.std() / 2000**0.5)
    assert trials.mean() == pytest.approx(drawn.mean(), abs=4 * spread)


TRIALS = 20


def rows_of(study, means, *, metric=None, kernel=None):
    """Rows around the mean of each "mechanism", "mechanism treatment" or "... share"."""
    rng = np.random.default_rng(1)
    setting = STUDIES[study].setting
    rows = []
    for name, mean in means.items():
        mechanism, treatment, share = (*name.split(), None, None)[:3]
        values = mean * (1 + 0.01 * rng.standard_normal(TRIALS))
        rows += [
            {
                "paper": "mvg2018",
                "study": study,
                "dataset": "made-up",
                "data_source": "official",
                "mechanism": mechanism,
                "calibration": "published",
                "shape": "x".join(map(str, setting.query.shape)),
                "epsilon": 1.0,
                "delta": setting.budget.delta,
                "treatment": treatment,
                "share": float(share) if share else np.nan,
                "kernel": kernel,
                "metric": metric or STUDIES[study].score,
                "trial": trial,
                "value": value,
            }
            for trial, value in enumerate(values)
        ]
    return rows


COMPARED_REGRESSION = STUDIES["regression"]


def test_a_table_shows_the_paper_s_methods_first_and_each_at_its_best_share(make_results):
    means = {
        "udn": 7,
        "udn subspace": 7,
        "gaussian": 6,
        "gaussian subspace": 8,
        "mvg iid": 3,
        "mvg right 0.55": 2,
        "mvg right 0.95": 1,
        "mvg wrong 0.55": 4,
        "mvg pca 0.55": 5,
    }
    table = comparison_table(make_results(rows_of("regression", means)), COMPARED_REGRESSION).data
    assert table[["method of the paper", "mechanism", "treatment"]].to_numpy().tolist() == [
        ["MVG-1", "MVG", "right"],
        ["MVG-2", "MVG", "private directions"],
        ["Gaussian", "Classic Gaussian", ""],
        ["", "Classic Gaussian", "right features only"],
        ["", "MVG", "equal precision"],
        ["", "MVG", "all other features"],
        ["", "MGM-UDN", ""],
    ]
    assert table["tau"].tolist()[:2] == [0.95, 0.55]
    assert table["mean"].tolist() == pytest.approx([1, 5, 6, 8, 3, 4, 7], rel=0.02)
    assert table["above MVG"].tolist() == pytest.approx([0, 4, 5, 7, 2, 3, 6], rel=0.02)
    assert table["stated above MVG"].tolist()[2] == 0.003


def test_a_guess_is_judged_with_one_kernel_too(make_results):
    rows = rows_of("regression", {"mvg right 0.5": 1, "random-answer": 2}, kernel="linear")
    outcomes = ahead_of_a_guess(make_results(rows), margin=0.1).outcomes
    assert [outcome.verdict for outcome in outcomes] == [CONFIRMED, CONTRADICTED]


def test_rows_of_bundled_data_have_no_part_in_a_verdict(make_results):
    wine = {"data_source": "bundled", "dataset": "wine"}

    def mixed(means, bundled, **more):
        return [
            row | added
            for study in STUDIES
            for found, added in ((means, {}), (bundled, wine))
            for row in rows_of(study, found, **more)
        ]

    means = {"mvg a 0.5": 0.2, "jl": 0.4, "non-private": 0.1, "random-answer": 0.5}
    scores = mixed(means, {"random-answer": 100})
    timings = mixed({"mvg a 0.5": 2, "jl": 9}, {}, metric="release_seconds")
    timings += mixed({"mvg iid": 1}, {"mvg iid": 50}, metric="svd_seconds")
    results, none = make_results(scores, timings), {name: [] for name in STUDIES}
    above = error_above(results, study="first_component", others=["jl"], margin=0.1)
    slower = none | {"regression": ["jl"]}
    times = study_times(results, faster=none, slower=slower, tolerance=1.0)
    assert [above.verdict, times.verdict] == [CONFIRMED, CONFIRMED]


def test_table_3_has_the_predictions_without_features_and_every_kernel(make_results):
    rows = [
        *rows_of("regression", {"non-private": 0.012}, kernel="linear"),
        *rows_of("regression", {"non-private": 0.0108}, kernel="rbf"),
        *rows_of("regression", {"non-private": 0.016}, metric="rmse_of_zero"),
        *rows_of("regression", {"non-private": 0.016}, metric="rmse_of_mean"),
    ]
    drawn = table_3(make_results(rows))
    table = drawn.data
    assert table["mechanism"].tolist()[:2] == ["predict zero", "predict the mean"]
    assert table["kernel"].tolist()[2:] == ["linear kernel", "Gaussian kernel"]
    assert table["mean"].tolist() == pytest.approx([0.016, 0.016, 0.012, 0.0108], rel=0.02)
    assert "linear kernel and Gaussian kernel" in drawn.caption


def rows_of_all(means, **more):
    """Rows of every study."""
    return [row for study in STUDIES for row in rows_of(study, means, **more)]


def test_table_6_has_medians_of_the_whole_query_in_milliseconds(make_results):
    seconds = {"laplace": 2e-3, "laplace subspace": 9}
    timings = rows_of_all(seconds, metric="release_seconds")
    table = table_6(make_results(rows_of_all({"laplace": 2}), timings)).data
    assert table["mechanism"].tolist() == ["Laplace"]
    for study in ("Exp. I", "Exp. II", "Exp. III"):
        assert table[study].tolist() == pytest.approx([2], rel=0.02)
    assert table["paper"].tolist() == ["0.4, 0.5, 8.0"]


def test_figure_4_draws_every_treatment_of_mvg(make_results):
    means = {"mvg iid": 3, "mvg right 0.55": 1, "mvg right 0.95": 2, "mvg-sqrt iid": 9, "jl": 9}
    drawn = figure_4(make_results(rows_of_all(means)))
    assert "draws" not in drawn.caption
    for study in STUDIES:
        lines = drawn.data[drawn.data["study"] == study]
        assert lines["treatment"].tolist() == ["iid", "right", "right"]
        assert lines["share"].tolist()[1:] == [0.55, 0.95]
        assert lines["mean"].tolist() == pytest.approx([3, 1, 2], rel=0.02)
        assert lines["mean"].between(lines["low"], lines["high"], inclusive="neither").all()


@pytest.mark.parametrize(("records", "of_the_paper"), [(2021, True), (1000, False)])
def test_draws_and_the_closed_form_are_those_of_the_papers_records(
    make_results, few_draws, records, of_the_paper
):
    movement = {"dataset": "movement_aal", "delta": 1 / records}
    rows = [
        row | (movement if row["study"] == "first_component" else {})
        for row in rows_of_all({"mvg iid": 3, "mvg right 0.55": 1, "random-answer": 2})
    ]
    drawn = figure_4(make_results(rows))
    assert ("; II as published by 2,000 draws." in drawn.caption) == of_the_paper
    levels = [line.get_ydata()[0] for line in drawn.figure.axes[1].lines]
    assert (COMPONENT.floor in levels) == of_the_paper
