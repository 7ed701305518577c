"""The numbers of a comparison against closed forms, and its ranks and reasons."""

import math

import numpy as np
import pandas as pd
import pytest
from compared_rows import BUDGET, SIGMA, histogram, row_of, rows_of
from known_losses import gaussian_delta

from mechanisms import Budget, Query, UnknownMechanism, all_mechanisms, compare
from mechanisms.comparison.advisor import COLUMNS, TIE, conclusion, ranked

CLASSIC = math.sqrt(2 * math.log(1.25e5))


def mse_of_tree(cells, branching, levels, workload):
    """The mean squared error per query for Laplace noise of scale `levels` on a rootless tree."""
    widths = [branching**level for level in range(levels)]
    rows = [np.kron(np.eye(cells // width), np.ones((1, width))) for width in widths]
    tree = np.concatenate(rows)
    covariance = 2 * levels**2 * np.linalg.inv(tree.T @ tree)
    return np.trace(workload @ covariance @ workload.T) / len(workload)


# (query, workload, mechanism, calibration, mean squared error of an element or a query)
HAND_COMPUTED = {
    "gradient, analytic Gaussian": (
        Query(shape=(120, 400), l2_sensitivity=1.0),
        "identity",
        ("gaussian-analytic", "exact"),
        SIGMA**2,
    ),
    "gradient, classic Gaussian": (
        Query(shape=(120, 400), l2_sensitivity=1.0),
        "identity",
        ("gaussian", "published"),
        CLASSIC**2,
    ),
    "prefix, Laplace: 2 b^2 (n + 1) / 2": (histogram(256), "prefix", ("laplace", "published"), 257),
    "prefix, analytic Gaussian": (
        histogram(256),
        "prefix",
        ("gaussian-analytic", "exact"),
        SIGMA**2 * 257 / 2,
    ),
    "prefix, tree of two levels": (
        histogram(256),
        "prefix",
        ("hb", "published"),
        mse_of_tree(256, 16, 2, np.tri(256)),
    ),
    # tr(V X^-1) of the best strategy for two cells is (3 + sqrt 5) / 2.
    "prefix of two cells, matrix mechanism": (
        histogram(2),
        "prefix",
        ("matrix-mechanism", "exact"),
        SIGMA**2 * (3 + math.sqrt(5)) / 4,
    ),
    "all ranges, Laplace: 2 b^2 (n + 2) / 3": (
        histogram(64),
        "all-range",
        ("laplace", "published"),
        44,
    ),
    # The optimum for 64 cells, from another solver.
    "all ranges, matrix mechanism": (
        histogram(64),
        "all-range",
        ("matrix-mechanism", "published"),
        CLASSIC**2 * 11024.382 / 2080,
    ),
    # One pickup moves between two cells of a map.
    "map, Laplace": (
        Query(shape=(89, 89), l2_sensitivity=2**0.5, l1_sensitivity=2.0, adjacency="replace"),
        "identity",
        ("laplace", "published"),
        8,
    ),
    "rectangles from the corner of a table, Laplace": (
        histogram(4, 6),
        "prefix",
        ("laplace", "published"),
        2 * 5 / 2 * 7 / 2,
    ),
    "two sums from a matrix, Laplace": (
        histogram(3),
        np.array([[1.0, 1.0, 0.0], [0.0, 1.0, -2.0]]),
        ("laplace", "published"),
        2 * (2 + 5) / 2,
    ),
    "Gram matrix, symmetric Gaussian": (
        Query(shape=(5, 5), l2_sensitivity=1.0, structure="gram", record_bound=1.0),
        "identity",
        ("analyze-gauss", "exact"),
        SIGMA**2,
    ),
    "prefix of a million cells, Laplace": (
        histogram(10**6),
        "prefix",
        ("laplace", "published"),
        10**6 + 1,
    ),
}


@pytest.mark.parametrize("name", HAND_COMPUTED)
def test_errors_equal_those_computed_by_hand(name):
    query, workload, (key, calibration), expected = HAND_COMPUTED[name]
    row = row_of(rows_of(query, key, workload=workload), key, calibration)
    assert row["rmse"] ** 2 == pytest.approx(expected, rel=2e-6)
    assert row["rmse_error"] == 0


def test_pure_privacy_of_a_vector():
    """With a density ~ e^-|x|, the radius is Gamma(M), so that E R^2 = M (M + 1)."""
    frame = rows_of(
        Query(shape=(9,), l2_sensitivity=1.0), "l2", "gaussian", budget=Budget(epsilon=1.0)
    )
    row = row_of(frame, "l2", "published")
    assert row["rmse"] == pytest.approx(math.sqrt(10), rel=1e-12)
    assert row_of(frame, "gaussian", "published")["note"].startswith("needs delta > 0")


def test_published_claims_get_their_true_privacy():
    """R1SMG claims 1e-5; its delta(1) with 16 elements comes from an independent integration."""
    frame = rows_of(Query(shape=(16,), l2_sensitivity=1.0), "r1smg", "gaussian")
    row = row_of(frame, "r1smg", "published")
    assert row["verdict"] == "refuted"
    assert row["true_delta"] == pytest.approx(0.4417, rel=1e-3)
    assert pd.isna(row["rank"])
    assert row_of(frame, "r1smg", "exact")["rank"] == 2
    classic = row_of(frame, "gaussian", "published")
    assert classic["verdict"] == "loose"
    assert classic["true_delta"] == pytest.approx(gaussian_delta(1 / CLASSIC, 1.0), rel=1e-9)
    assert "epsilon < 1" in classic["note"]


@pytest.mark.slow
def test_prefix_queries_on_256_cells_rank_as_computed_elsewhere():
    keys = ("laplace", "hb", "matrix-mechanism", "matrix-mechanism-l1", "gaussian-analytic")
    frame = compare(histogram(256), BUDGET, workload="prefix", mechanisms=keys, seconds=300)
    counted = frame[frame["rank"].notna()]
    assert list(counted["mechanism"]) == [
        *("matrix-mechanism-l1", "hb", "matrix-mechanism", "laplace", "gaussian-analytic")
    ]
    assert list(counted["rank"]) == [1, 2, 3, 4, 5]
    assert list((counted["rmse"] ** 2).round()) == [54, 80, 89, 257, 1788]
    assert row_of(frame, "matrix-mechanism", "published")["rmse"] ** 2 == pytest.approx(
        150, abs=0.5
    )
    assert row_of(frame, "hb", "exact")["note"].startswith("has no exact calibration")
    # Another implementation found 80.4706 for H_b and, from random starts, 53.9924 for the search.
    lead = math.sqrt(80.4706 / 53.9924)
    assert counted["times_best"].iloc[1] >= lead * (1 - 1e-4)
    # With other versions of scipy, the search for a strategy differs in the fifth digit.
    (sentence,) = conclusion(frame, "query")
    assert sentence.startswith(
        "At (1, 1e-05) use Matrix mechanism (Laplace), as published (b 1), for the least error of "
        "those compared: RMSE 7.32"
    )
    assert sentence.endswith(" per query. Next is H_b with 1.225 times that error.")


def test_ties_are_called_ties():
    frame = rows_of(
        Query(shape=(120, 400), l2_sensitivity=1.0),
        *("gaussian-analytic", "spherical-gamma", "gaussian", "imgm", "r1smg"),
    )
    ranks = frame[frame["rank"].notna()].set_index("mechanism")["rank"]
    # They are 0.006% apart, which is below the tolerance.
    assert dict(ranks) == {
        **dict.fromkeys(("gaussian-analytic", "spherical-gamma", "gaussian", "imgm"), 1),
        "r1smg": 5,
    }
    assert conclusion(frame) == [
        "At (1, 1e-05) use Analytic Gaussian, as published (sigma 3.7306), for the least error of "
        "those compared: RMSE 3.7306 per element, within 0.1% of its exact calibration. Every "
        "private mechanism has a worst case of at least 0.9991 of that error. Classic Gaussian "
        "(exactly calibrated), Spherical gamma and IMGM tie with it (within 0.1%). Next is R1SMG "
        "(refuted as published) with 1.3e+04 times that error."
    ]


def made_up(**columns):
    """Rows of one budget with proven privacy, for mechanisms called a, b, c, ..."""
    size = len(columns["rmse"])
    defaults = {
        "epsilon": 1.0,
        "delta": 0.0,
        "mechanism": list("abcdef"[:size]),
        "title": list("ABCDEF"[:size]),
        "calibration": "exact",
        "status": "served",
        "verdict": "holds",
        "rmse_error": 0.0,
        "note": "",
    }
    return ranked(pd.DataFrame(defaults | columns, columns=list(COLUMNS)))


def test_a_group_of_ties_does_not_grow_beyond_its_first():
    step = 1 + 0.7 * TIE
    frame = made_up(rmse=[1.0, step, step**2, 2.0])
    assert list(frame["rank"]) == [1, 1, 3, 4]


def test_sampled_errors_tie_within_their_deviations():
    assert list(made_up(rmse=[1.0, 1.05], rmse_error=[0.0, 0.02])["rank"]) == [1, 1]
    assert list(made_up(rmse=[1.0, 1.05], rmse_error=[0.01, 0.0])["rank"]) == [1, 2]


def test_refuted_claims_come_last_among_ties():
    frame = made_up(
        rmse=[1.0, 1.0, 1.0, 1.0],
        mechanism=["a", "a", "b", "c"],
        title=["A", "A", "B", "C"],
        calibration=["exact", "published", "exact", "exact"],
        verdict=["holds", "refuted", "holds", "holds"],
    )
    assert list(frame["mechanism"][frame["rank"] == 1]) == ["b", "c", "a"]
    (sentence,) = conclusion(frame)
    assert "use B, exactly calibrated, for the least error" in sentence
    assert "C (exactly calibrated) and A (refuted as published) tie with it" in sentence


def test_the_sentence_is_about_the_noise_that_it_names():
    frame = made_up(
        rmse=[1.0, 1.0008, 3.0024],
        mechanism=["a", "a", "b"],
        title=["A", "A", "B"],
        calibration=["exact", "published", "exact"],
        of_limit=[2.0, 2.0016, 6.0048],
    )
    assert conclusion(frame) == [
        "At (1, 0) use A, as published, for the least error of those compared: RMSE 1.0008 per "
        "element, within 0.1% of its exact calibration. Every private mechanism has a worst case "
        "of at least 0.4996 of that error. Next is B (exactly calibrated) with 3 times that error."
    ]


def test_only_proven_privacy_is_ranked():
    frame = made_up(
        rmse=[1.0, 2.0, 3.0, math.inf, 5.0],
        verdict=["refuted", "undecided", "loose", "holds", "holds"],
        calibration=["published", "published", "published", "exact", "exact"],
    ).set_index("mechanism")
    assert dict(frame["rank"].dropna()) == {"c": 1, "e": 2}
    assert frame["times_best"]["e"] == pytest.approx(5 / 3)


def test_the_exact_calibration_counts_where_there_is_one():
    frame = made_up(rmse=[2.0, 1.0], mechanism=["a", "a"], calibration=["exact", "published"])
    assert list(frame["calibration"][frame["rank"].notna()]) == ["exact"]


def test_sampled_errors_agree_with_the_closed_form():
    """The comparison has no closed form for symmetric noise; this uses E (x + 2 y + z)^2 etc."""
    query = Query(shape=(2, 2), l2_sensitivity=1.0, structure="gram", record_bound=1.0)
    row = row_of(rows_of(query, "analyze-gauss", workload="prefix"), "analyze-gauss", "exact")
    # The corner sums of [[x, y], [y, z]] are x, x + y, x + y and x + 2 y + z.
    assert 0 < row["rmse_error"] < 0.02
    assert abs(row["rmse"] / (SIGMA * math.sqrt(11 / 4)) - 1) < 4 * row["rmse_error"]


def test_every_mechanism_has_a_number_or_a_reason():
    """Nearly all assumptions hold for this small histogram; no mechanism may fail."""
    query = histogram(2, 2, element_range=(0.0, 1.0), frobenius_bound=2.0)
    slow = {"matrix-mechanism-cvxpy", "matrix-mechanism-l1", "spherical-gamma"}
    frame = rows_of(query, *(set(all_mechanisms()) - slow), workload=["prefix", "identity"])
    assert not frame["status"].isin(["failed", "too slow"]).any(), frame[["mechanism", "note"]]
    served = frame[frame["rank"].notna()]
    assert len(served) >= 12
    assert (served["rmse"] > 0).all()
    assert (frame["note"].str.len()[frame["rmse"].isna()] > 10).all()


def test_a_grid_of_budgets_has_ranks_at_each():
    budgets = [Budget(epsilon=epsilon, delta=1e-5) for epsilon in (0.1, 1.0)]
    frame = rows_of(histogram(4), "laplace", "gaussian-analytic", budget=budgets)
    best = frame[frame["rank"] == 1].set_index("epsilon")
    assert list(best.index) == [0.1, 1.0]
    assert len(conclusion(frame)) == 2
    assert best.loc[0.1, "rmse"] == pytest.approx(10 * best.loc[1.0, "rmse"], rel=1e-2)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"mechanisms": ["gausian"]}, UnknownMechanism, "did you mean 'gaussian'"),
        ({"mechanisms": "gaussian"}, TypeError, "a list of keys"),
        ({"mechanisms": []}, ValueError, "mechanisms must name at least one"),
        ({"answer": np.ones(5)}, ValueError, "the value must have the query's shape"),
        ({"seconds": 0}, ValueError, "seconds must be"),
        ({"budget": []}, ValueError, "at least one budget"),
        ({"budget": 1.0}, TypeError, "a Query and a Budget"),
        ({"workload": np.ones((2, 5))}, ValueError, "one column for each"),
    ],
)
def test_bad_arguments_are_reported(changes, error, words):
    arguments = {"query": histogram(4), "budget": BUDGET} | changes
    with pytest.raises(error, match=words):
        compare(**arguments)
