"""The experiments of mvg2018: scores against other code, treatments, budgets, official data."""

import math
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from datasets import fetch
from datasets import load as load_dataset
from experiments import covariance, first_component, regression
from experiments.contract import treatments as directional
from experiments.contract.settings import ConfigError
from experiments.contract.study import Names, Variant
from experiments.contract.treatments import binary_allocation, scale_by_largest, scale_columns
from experiments.kernel_ridge import predict
from mechanisms import Mechanism, OutOfRangeWarning, get_mechanism
from papers.mvg2018 import record_covariance, scaled_records
from runs.config import check_config, read_config

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = {
    "regression": (regression, "diabetes", "rmse"),
    "first_component": (first_component, "wine", "error"),
    "covariance": (covariance, "breast_cancer", "rss"),
}


def settings_of(name, **changes):
    """The settings of config/tiny.yaml with some replaced, checked."""
    config = read_config(ROOT / "config/tiny.yaml")["experiments"][name]
    experiment = {key: value for key, value in config.items()} | changes
    return check_config({"run": "test", "experiments": {name: experiment}})["experiments"][name]


def names(experiment, dataset, mechanism):
    return Names(base_seed=1, experiment=experiment, dataset=dataset, mechanism=mechanism)


def measure(name, mechanism, calibration="published", options=None, **changes):
    """(problem, values) of one cell on bundled data; `mechanism` is a key or a class."""
    module, dataset, _ = EXPERIMENTS[name]
    settings = settings_of(name, **changes)
    cls = get_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    variant = Variant(name=cls.key, mechanism=cls, options=options or {})
    problem = module.load(settings, dataset, Path("nowhere"), names(name, dataset, "shared"))
    (point,) = module.points(settings, variant.name, dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        seeds = names(name, dataset, variant.name)
        return problem, list(module.measure(problem, variant, calibration, point, seeds))


def series(values, metric):
    """Values of one metric by trial, in order."""
    found = [value for value in values if value.metric == metric]
    assert found, f"{metric} is not among {sorted({value.metric for value in values})}"
    assert [value.trial for value in found] == list(range(len(found)))
    return np.array([value.value for value in found])


class Told(Mechanism):
    """Releases what `answer` makes of the value and keeps what it was calibrated to."""

    key, title, paper, theorem, guarantee = "told", "Told", "test", "none", "approximate"
    answer = staticmethod(lambda value, rng: value)
    calls = []

    @classmethod
    def build(cls, query, budget, calibration, settings):
        cls.calls.append((query, budget, calibration, dict(settings)))
        return cls(query=query, budget=budget, calibration=calibration, settings=settings)

    def release(self, value, rng):
        return self.answer(self.checked_value(value), rng)

    def release_with_diagnostics(self, value, rng):
        return self.release(value, rng), {"steps": 7.0}


class ToldDirections(Told):
    """One that takes MVG's options."""

    key = "told-directions"
    options = get_mechanism("mvg").options


@pytest.fixture(autouse=True)
def forget_calls():
    Told.calls.clear()


# Kernel ridge regression and scaling


@pytest.mark.parametrize(("gamma", "ridge"), [(0.1, 1e-3), (10, 0.1), (1e-3, 10)])
def test_kernel_ridge_regression_is_that_of_scikit_learn(gamma, ridge):
    rng = np.random.default_rng(0)
    features, tests = rng.standard_normal((60, 4)), rng.standard_normal((20, 4))
    targets = np.sin(features).sum(axis=1)
    oracle = KernelRidge(kernel="rbf", gamma=gamma, alpha=ridge).fit(features, targets)
    ours = predict(features, targets, tests, gamma=gamma, ridge=ridge)
    assert ours == pytest.approx(oracle.predict(tests), rel=1e-8, abs=1e-10)


def test_kernel_ridge_regression_keeps_small_distances_far_from_zero():
    """||x||^2 - 2 x.y + ||y||^2 would lose them."""
    features = 1e9 + np.array([[0.0], [1.0]])
    near = predict(features, np.array([1.0, 0.0]), features[:1], gamma=1.0, ridge=1e-3)
    same = predict(features - 1e9, np.array([1.0, 0.0]), np.zeros((1, 1)), gamma=1.0, ridge=1e-3)
    assert near == pytest.approx(same, rel=1e-12)


def test_scalings_stay_in_the_range_and_reach_it():
    values = np.array([[1.0, -4.0, 100.0], [2.0, 4.0, 50.0], [5.0, 0.0, 75.0]])
    columns = scale_columns(values)
    assert columns.min(axis=0).tolist() == [-1, -1, -1]
    assert columns.max(axis=0).tolist() == [1, 1, 1]
    assert columns[1].tolist() == [-0.5, 1.0, -1.0]
    assert scale_by_largest(values) == pytest.approx(values / 100)
    with pytest.raises(ValueError, match="column 1"):
        scale_columns(np.array([[1.0, 2.0], [3.0, 2.0]]))


# Scores


def test_rmse_is_that_of_scikit_learn_on_the_records_left_out():
    problem, values = measure("regression", "non-private")
    dataset = load_dataset("diabetes")
    table = np.column_stack([dataset.features, dataset.progression])
    table = table / table.max()
    for trial, found in enumerate(series(values, "rmse")):
        private, tests = problem.splits[trial, :40], problem.splits[trial, 40:]
        assert sorted([*private, *tests]) == list(range(442))
        oracle = KernelRidge(kernel="rbf", gamma=0.1, alpha=1e-3)
        oracle.fit(table[private, :-1], table[private, -1])
        errors = oracle.predict(table[tests, :-1]) - table[tests, -1]
        assert found == pytest.approx(math.sqrt(np.mean(errors**2)), rel=1e-8)
        zero = math.sqrt(np.mean(table[tests, -1] ** 2))
        assert series(values, "rmse_of_zero")[trial] == pytest.approx(zero, rel=1e-12)
        mean = math.sqrt(np.mean((table[tests, -1] - table[private, -1].mean()) ** 2))
        assert series(values, "rmse_of_mean")[trial] == pytest.approx(mean, rel=1e-12)
    largest = series(values, "rmse scaling-largest")
    assert largest == pytest.approx(series(values, "rmse"), rel=1e-9)


def test_the_subspace_is_the_right_features_and_the_target_alone():
    problem, values = measure("regression", Told)
    bmi = list(load_dataset("diabetes").features.T[2])
    for trial, found in enumerate(series(values, "rmse subspace")):
        private, tests = problem.splits[trial, :40], problem.splits[trial, 40:]
        scaled = problem.records["largest"]
        assert scaled[:, 2] == pytest.approx(np.array(bmi) / 346, rel=1e-12)
        oracle = KernelRidge(kernel="rbf", gamma=0.1, alpha=1e-3)
        oracle.fit(scaled[private][:, [2]], scaled[private, -1])
        errors = oracle.predict(scaled[tests][:, [2]]) - scaled[tests, -1]
        assert found == pytest.approx(math.sqrt(np.mean(errors**2)), rel=1e-8)
    whole, subspace = (query for query, *_ in Told.calls)
    assert whole == scaled_records(11, 40)
    assert subspace == scaled_records(2, 40)
    assert subspace.l2_sensitivity == 2 * math.sqrt(2)


@pytest.mark.parametrize("name", ["first_component", "covariance"])
def test_without_noise_there_is_no_error(name):
    _, values = measure(name, "non-private")
    assert np.abs(series(values, EXPERIMENTS[name][2])).max() < 1e-12


def test_noise_that_vanishes_leaves_no_error(monkeypatch):
    monkeypatch.setattr(
        Told, "answer", lambda self, v, rng: v + 1e-9 * rng.standard_normal(v.shape)
    )
    _, component = measure("first_component", Told)
    assert 0 < series(component, "error").max() < 1e-8
    _, residuals = measure("covariance", Told)
    assert 0 <= series(residuals, "rss").max() < 1e-8
    _, fitted = measure("regression", Told)
    _, exact = measure("regression", "non-private")
    assert series(fitted, "rmse") == pytest.approx(series(exact, "rmse"), rel=1e-5)


def test_noise_without_bound_predicts_zero(monkeypatch):
    """The kernel between the test records and the released ones vanishes."""
    monkeypatch.setattr(Told, "answer", lambda self, v, rng: 1e6 * rng.standard_normal(v.shape))
    _, values = measure("regression", Told)
    _, exact = measure("regression", "non-private")
    assert series(values, "rmse").tolist() == series(exact, "rmse_of_zero").tolist()


def test_the_error_of_a_component_by_hand(monkeypatch):
    """An answer with eigenvector e_2 captures C_22; its skew part is of no effect."""
    skew = np.zeros((13, 13))
    skew[0, 3], skew[3, 0] = 100.0, -100.0
    answer = skew + np.diag([0.0, 0.0, 5.0, *[-9.0] * 10])
    monkeypatch.setattr(Told, "answer", lambda self, v, rng: answer)
    problem, values = measure("first_component", Told)
    largest = np.linalg.eigvalsh(problem.covariance)[-1]
    assert series(values, "error") == pytest.approx(largest - problem.covariance[2, 2], rel=1e-12)


def test_rss_by_hand(monkeypatch):
    """Records along the axes, of falling length: the components are the axes in that order."""
    order = np.random.default_rng(2).permutation(30)
    answer = np.zeros((30, 40))
    answer[order, np.arange(30)] = np.arange(30, 0, -1)
    monkeypatch.setattr(Told, "answer", lambda self, v, rng: answer)
    problem, values = measure("covariance", Told)
    exact = problem.records @ problem.records.T / 40
    eigenvalues = np.sort(np.linalg.eigvalsh(exact))[::-1]
    expected = sum((eigenvalues[i] - exact[order[i], order[i]]) ** 2 for i in range(30))
    assert series(values, "rss") == pytest.approx(expected, rel=1e-9)


def test_a_random_answer_knows_no_component():
    """The mean error of a random direction is lambda_1 - tr C / m."""
    problem, values = measure("first_component", "random-answer", trials=400)
    errors = series(values, "error")
    expected = np.linalg.eigvalsh(problem.covariance)[-1] - np.trace(problem.covariance) / 13
    assert errors.mean() == pytest.approx(expected, abs=4 * errors.std() / 20)


def test_diagnostics_become_rows_with_seeds():
    for name, (_, dataset, metric) in EXPERIMENTS.items():
        _, values = measure(name, Told)
        assert series(values, "steps").tolist() == [7.0] * 3
        expected = names(name, dataset, "told")
        (point,) = EXPERIMENTS[name][0].points(settings_of(name), "told", dataset)
        for value in values:
            if value.metric in (metric, "steps"):
                assert value.seed == expected.seed(point, value.trial)


# Treatments


@pytest.mark.parametrize("share", [0.55, 0.95])
@pytest.mark.parametrize("informative", [[0], [4, 1], [0, 1, 2, 3]])
def test_binary_allocation(informative, share):
    theta = np.array(binary_allocation(5, informative, share))
    assert theta.sum() == pytest.approx(1, abs=1e-15)
    assert theta[informative].sum() == pytest.approx(share, rel=1e-14)
    assert np.ptp(theta[informative]) == 0
    assert np.ptp(np.delete(theta, informative)) == 0


@pytest.mark.parametrize(
    ("name", "mode"),
    [("regression", "unimodal"), ("first_component", "equimodal"), ("covariance", "unimodal")],
)
def test_treatments_reach_a_mechanism_with_directions(name, mode):
    _, values = measure(name, ToldDirections)
    settings = settings_of(name)
    (sets,) = settings["directions"].values()
    metric = EXPERIMENTS[name][2]
    expected = {f"{metric} {known} {share}" for known in sets for share in ("0.55", "0.95")}
    found = {v.metric for v in values if v.metric.startswith(f"{metric} ")}
    assert {f"{metric} iid"} | expected == {m for m in found if "pca" not in m}
    size = Told.calls[0][0].shape[0]
    for query, _, _, options in Told.calls:
        assert query.shape[0] == size
        assert options["mode"] == mode
        theta = options["precision"]
        assert theta is None or (len(theta) == size and sum(theta) == pytest.approx(1))


def test_the_right_features_get_the_precision():
    measure("first_component", ToldDirections)
    features = directional.feature_names("wine")
    _, *treated = (options["precision"] for *_, options in Told.calls)
    assert len(treated) == 2
    for theta, share in zip(treated, (0.55, 0.95), strict=True):
        at = dict(zip(features, theta, strict=True))
        assert at["total_phenols"] == at["flavanoids"] == pytest.approx(share / 2)
        assert at["ash"] == pytest.approx((1 - share) / 11)


def test_options_of_the_config_win():
    options = {"mode": "unimodal", "zeta": "sqrt"}
    measure("first_component", ToldDirections, options=options)
    assert {(call[3]["mode"], call[3]["zeta"]) for call in Told.calls} == {("unimodal", "sqrt")}


def test_private_directions_split_the_budget(monkeypatch):
    """20% of both numbers for MOD-SULQ, the rest for the release along what it found."""
    from mechanisms.symmetric import ModSulq

    spent, found = [], []
    calibrate = ModSulq.calibrate.__func__

    def watched(cls, query, budget, calibration="published", **options):
        spent.append((query, budget, calibration))
        return calibrate(cls, query, budget, calibration, **options)

    monkeypatch.setattr(ModSulq, "calibrate", classmethod(watched))
    release = ModSulq.release

    def kept(self, value, rng):
        found.append((value, release(self, value, rng)))
        return found[-1][1]

    monkeypatch.setattr(ModSulq, "release", kept)
    _, values = measure("regression", ToldDirections, "exact")
    assert series(values, "rmse pca 0.95").shape == (3,)
    private = [call for call in Told.calls if call[3]["directions"] is not None]
    assert len(private) == len(found) == 2 * 3
    for query, budget, calibration in spent:
        assert (budget.epsilon, budget.delta) == pytest.approx((0.2, 0.2 / 40), rel=1e-12)
        assert query == record_covariance(11, 40)
        assert calibration == "exact"
    for (query, budget, calibration, options), (value, noisy) in zip(private, found, strict=True):
        assert (budget.epsilon, budget.delta) == pytest.approx((0.8, 0.8 / 40), rel=1e-12)
        assert calibration == "exact"
        assert query == scaled_records(11, 40)
        along = options["directions"]
        assert along.T @ along == pytest.approx(np.eye(11), abs=1e-12)
        # The first two columns span the noisy answer's two largest components.
        top = np.linalg.eigvalsh(noisy)[-2:]
        assert np.diag(along.T @ noisy @ along)[:2] == pytest.approx(top[::-1], rel=1e-9)
        assert options["precision"][:2] == pytest.approx([sum(options["precision"][:2]) / 2] * 2)
        assert np.trace(value) <= 11


def test_all_mechanisms_see_one_split_and_each_its_own_noise():
    first, noisy = measure("regression", "gaussian", records=400)
    second, other = measure("regression", "laplace", records=400)
    assert np.array_equal(first.splits, second.splits)
    assert len({tuple(split) for split in first.splits}) == 3
    assert {v.seed for v in noisy if v.seed}.isdisjoint({v.seed for v in other if v.seed})


def test_calibrations_share_their_draws():
    """Gaussian noise of another size: the same normals, in the same order."""
    _, published = measure("covariance", "gaussian-analytic")
    _, exact = measure("covariance", "gaussian-analytic", "exact")
    assert series(published, "rss") == pytest.approx(series(exact, "rss"), rel=1e-6)


def test_the_component_s_truth_rests_on_what_a_record_changes():
    measure("first_component", Told)
    measure("first_component", Told, "exact")
    for query, *_ in Told.calls:
        assert query.l2_sensitivity == pytest.approx(2 * 13 / 40)
        assert query.reach == pytest.approx(math.sqrt(2) * 13 / 40)


# Queries: brute force over records of the box


def records_of(rng, features, count):
    """Records in the box, half of them at its corners."""
    inside = rng.uniform(-1, 1, (count, features))
    return np.where(rng.random((count, 1)) < 0.5, np.sign(inside), inside)


def test_replacing_a_record_changes_the_covariance_by_at_most_the_sensitivities():
    rng = np.random.default_rng(4)
    features, size = 6, 10
    query = record_covariance(features, size)
    x, y = records_of(rng, features, 20_000), records_of(rng, features, 20_000)
    changes = (x[:, :, None] * x[:, None, :] - y[:, :, None] * y[:, None, :]) / size
    assert np.linalg.norm(changes, axis=(1, 2)).max() <= query.reach * (1 + 1e-12)
    assert np.abs(changes).sum(axis=(1, 2)).max() <= query.l1_sensitivity
    assert np.abs(changes).max() <= query.linf_sensitivity
    assert (x**2).sum(axis=1).max() / size <= query.record_bound**2 * (1 + 1e-12)
    # The least l2 sensitivity: attained by half of the signs turned.
    one, half = np.ones(features), np.repeat([1.0, -1.0], features // 2)
    worst = np.linalg.norm(np.outer(one, one) - np.outer(half, half)) / size
    assert worst == pytest.approx(query.reach, rel=1e-12)
    assert record_covariance(4, 2021).l2_sensitivity == 8 / 2021


def test_replacing_a_record_changes_one_column_by_at_most_the_sensitivities():
    query = scaled_records(6, 248)
    change = np.full(6, 2.0)
    assert query.l2_sensitivity == pytest.approx(np.linalg.norm(change), rel=1e-15)
    assert query.l1_sensitivity == change.sum()
    assert query.linf_sensitivity == 2.0
    assert query.one_column
    assert query.record_bound == pytest.approx(math.sqrt(6))
    assert query.frobenius_bound == pytest.approx(math.sqrt(6 * 248))


# Configs


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("covariance", {"directions": {}}, "no set of features for breast_cancer"),
        (
            "covariance",
            {"directions": {"breast_cancer": {"worst": ["worst radios"]}}},
            "did you mean 'worst radius'",
        ),
        ("covariance", {"shares": [1.0]}, "numbers between 0 and 1"),
        ("covariance", {"trials": 1}, "whole number >= 2"),
        ("regression", {"scaling": "rows"}, "one of largest, columns"),
        ("regression", {"scaling": "columns"}, "no entry for the scaling 'columns'"),
        ("regression", {"kernels": {"largest": {"gamma": 1}}}, "ridge is missing"),
        ("regression", {"kernels": {"rows": {}}}, "kernels.rows"),
        (
            "regression",
            {"directions": {"diabetes": {"bmi": ["bmi"]}}},
            "must hold progression and a feature",
        ),
    ],
)
def test_what_the_config_gets_wrong_is_told(name, changes, message):
    with pytest.raises(ConfigError, match=message):
        settings_of(name, **changes)


def test_a_set_of_all_features_leaves_none_out():
    everything = list(directional.feature_names("wine"))
    with pytest.raises(ConfigError, match="lists all features"):
        settings_of("first_component", directions={"wine": {"all": everything}})


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_too_many_records_are_refused(name):
    with pytest.raises(ValueError, match="records must be"):
        measure(name, "non-private", records=1000)


# Official data


@pytest.fixture(scope="module")
def official(tmp_path_factory):
    mirror = os.environ.get("DATA_MIRROR")
    if not mirror:
        pytest.skip("DATA_MIRROR is not set: it names a folder with the official files")
    folder = tmp_path_factory.mktemp("data")
    for name in ("liver_disorders", "movement_aal", "cardiotocography"):
        fetch(name, folder, mirror=mirror)
    return folder


@pytest.mark.parametrize(
    ("name", "dataset", "shape", "largest"),
    [
        ("regression", "liver_disorders", (6, 248), 1.0),
        ("first_component", "movement_aal", (4, 4), None),
        ("covariance", "cardiotocography", (21, 2126), 1.0),
    ],
)
def test_official_shapes(name, dataset, shape, largest, official):
    module = EXPERIMENTS[name][0]
    settings = read_config(ROOT / "config/reference.yaml")["experiments"][name]
    problem = module.load(settings, dataset, official, names(name, dataset, "mvg"))
    (point,) = module.points(settings, "mvg", dataset)
    assert point.shape == shape
    assert (point.epsilon, point.delta) == (1.0, 1 / settings["records"])
    value = {
        "regression": lambda: problem.private(0),
        "first_component": lambda: problem.covariance,
        "covariance": lambda: problem.records,
    }[name]()
    assert value.shape == shape
    assert np.abs(value).max() <= 1
    if name == "regression":
        assert problem.splits.shape == (100, 345)
        assert problem.records["largest"].max() == 1


def test_the_2021_samples_are_the_first_80_sequences(official):
    data = load_dataset("movement_aal", official)
    assert sum(map(len, data.sequences[:80])) == 2021
