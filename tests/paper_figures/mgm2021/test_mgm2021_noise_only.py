"""Tables 4 and 5 and the verdict on run time, on made-up rows with a known answer."""

import numpy as np
import pytest

from paper_figures.mgm2021.noise_only import SVD_SECONDS, run_times, table_4, table_5

SHAPES = ["120x400", "105x12"]


def timing_rows(seconds, shape="120x400", metric="draw_seconds"):
    rng = np.random.default_rng(len(seconds))
    return [
        {
            "study": "noise_only",
            "dataset": "gradient-shapes",
            "metric": metric,
            "shape": shape,
            "mechanism": mechanism,
            "trial": trial,
            "value": value * factor,
        }
        for mechanism, value in seconds.items()
        for trial, factor in enumerate(rng.uniform(0.9, 1.2, 20))
    ]


def timings(given, with_svd):
    return [
        row
        for shape in SHAPES
        for row in timing_rows(given, shape) + timing_rows(with_svd, shape, SVD_SECONDS)
    ]


CELL = {"study": "noise_only", "dataset": "gradient-shapes", "metric": "expected_loss"}
GIVEN = {"gaussian": 1.0, "idn": 1.4, "udn": 1.5, "mvg": 1.5}


def test_table_5_has_both_ways_to_the_directions(make_results):
    drawn = table_5(make_results([CELL], timings(GIVEN, {"mvg": 50})))
    assert "median of up to 20 draws" in drawn.caption
    ratios = drawn.data.set_index(["shape", "mechanism"])["ratio with an SVD per draw"]
    assert 30 < ratios["120x400", "MVG"] < 80
    assert ratios.drop(index="MVG", level=1).isna().all()


@pytest.mark.parametrize(("analytic", "expected"), [(1.02, "confirmed"), (1.6, "inconclusive")])
def test_who_is_faster_is_open_where_equal_draws_differ_by_as_much(
    make_results, analytic, expected
):
    given = GIVEN | {"gaussian-analytic": analytic}
    timed = timings(given, {"mvg": 50}) + timing_rows({"idn": 0.1}, metric="calibrate_seconds")
    found = run_times(
        make_results([CELL], timed),
        shapes=SHAPES,
        little_more=["idn"],
        far_more=["mvg"],
        little=(0, 3),
        far=(10, np.inf),
        least=True,
        choice="what counts",
        counted=("draws", "calibrations too"),
    )
    verdicts = {part.name: part.verdict for each in found.outcomes for part in each.parts}
    assert verdicts["MVG far slower than MGM-IDN at 120x400"] == "inconclusive"
    assert verdicts["MGM-IDN at 120x400 not faster"] == expected
    assert verdicts["MGM-IDN at 120x400"] == verdicts["MVG at 120x400"] == "confirmed"


def test_powers_of_table_4(make_results):
    """Rows grow as m^4 n^3 ln^2(m+1) for MVG and as m^3 n^3 for IDN, except where m > n."""

    def loss(mechanism, m, n):
        if m > n:
            return 1.0
        return m**4 * n**3 * np.log(m + 1) ** 2 if mechanism == "mvg-sqrt" else float(m * n) ** 3

    cell = {
        "study": "noise_only",
        "dataset": "growing-sensitivity",
        "data_source": "none",
        "metric": "expected_loss",
    }
    rows = [
        cell | {"mechanism": key, "shape": f"{m}x{n}", "value": loss(key, m, n)}
        for key in ("mvg-sqrt", "idn")
        for m, n in ((64, 64), (256, 1024), (512, 1024), (512, 2048), (2048, 512), (4096, 512))
    ]
    table = table_4(make_results(rows)).data.set_index("mechanism")
    assert np.allclose(
        table.loc["MVG (square root)", ["power of m", "power of n"]].astype(float), [4, 3]
    )
    assert np.allclose(table.loc["MGM-IDN", ["power of m", "power of n"]].astype(float), [3, 3])
    assert table.loc["MVG (square root)", "stated power of m"] == 4
