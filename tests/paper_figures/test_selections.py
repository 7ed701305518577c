"""The notes on rows without a value."""

import pandas as pd

from paper_figures.selections import failed_mechanisms
from runs.result_table import ERROR, OK, UNSUPPORTED


def rows_of(*cells):
    """One row of the study `covariance` per (mechanism, data set, calibration, status)."""
    names = ["mechanism", "dataset", "calibration", "status"]
    return pd.DataFrame(cells, columns=names).assign(study="covariance")


def test_mechanisms_without_a_result_are_listed_once_under_the_reason():
    rows = rows_of(
        ("mvg", "wine", "published", OK),
        ("mvg", "wine", "exact", OK),
        ("jl", "wine", "published", UNSUPPORTED),
        ("jl", "wine", "exact", UNSUPPORTED),
        ("hb", "wine", "published", OK),
        ("hb", "wine", "exact", UNSUPPORTED),
        ("ppca", "wine", "published", UNSUPPORTED),
        ("random-answer", "wine", "published", ERROR),
    )
    assert failed_mechanisms(rows, "covariance", "wine") == (
        " Without a result at one or more budgets (unsupported: Johnson-Lindenstrauss, PPCA; "
        "unsupported, at equal true privacy: H_b)."
    )


def test_data_sets_are_named_where_a_mechanism_has_results_on_others():
    rows = rows_of(
        ("mvg", "mnist", "published", ERROR),
        ("mvg", "adult", "published", OK),
        ("jl", "mnist", "published", OK),
        ("jl", "adult", "published", OK),
    )
    rows = rows.assign(message="Diverged: a gradient is not finite")
    assert failed_mechanisms(rows, "covariance", "mnist", "adult") == (
        " Without a result at one or more budgets (error: MVG on MNIST (Diverged: a gradient is "
        "not finite))."
    )


def test_nothing_is_said_where_every_mechanism_has_a_result():
    rows = rows_of(("mvg", "wine", "published", OK))
    assert failed_mechanisms(rows, "covariance", "wine") == ""
    assert failed_mechanisms(rows, "pca", "wine") == ""
