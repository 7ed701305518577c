"""Tables 4 and 5 and the verdict on run time, on made-up rows whose answer is known."""

import numpy as np
import pytest

from paper_figures.ledger import NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge
from paper_figures.mgm2021.noise_only import growth, run_times, table_4
from papers.mgm2021 import STATED_SECONDS


def timing_rows(seconds, shape="120x400"):
    return [
        {
            "experiment": "noise_only",
            "dataset": "gradient-shapes",
            "metric": "draw_seconds",
            "shape": shape,
            "mechanism": mechanism,
            "trial": trial,
            "value": value * factor,
        }
        for mechanism, value in seconds.items()
        for trial, factor in enumerate((0.9, 1.0, 1.3))
    ]


def slower(**factors):
    """The paper's seconds on a machine 1000 times slower, some of them times a factor."""
    return {k: 1000 * s * factors.get(k, 1.0) for k, s in STATED_SECONDS.items()}


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (slower(), REPRODUCED),
        (slower(mvg=1.9, udn=1 / 1.9), REPRODUCED),
        (slower(mvg=2.1), NOT_REPRODUCED),
        (slower(udn=1 / 2.1), NOT_REPRODUCED),
        ({k: s for k, s in slower().items() if k != "mvg"}, NOT_RUN),
        ({k: s for k, s in slower(udn=20).items() if k != "mvg"}, NOT_REPRODUCED),
    ],
)
def test_run_times(seconds, expected, make_claim, make_results):
    timings = timing_rows(seconds) + timing_rows(seconds, "105x12")
    found = run_times(make_claim(1.0, shape="120x400"), make_results([{}], timings))
    assert found.verdict == expected
    assert found.trials == 3


def test_run_times_need_the_shape_of_the_paper(make_claim, make_results):
    timings = timing_rows(slower(), "10x12")
    with pytest.raises(CannotJudge, match="120x400"):
        run_times(make_claim(1.0, shape="120x400"), make_results([{}], timings))


def test_growth_divides_the_logarithm_out():
    # ln^2(m+1) at m = e - 1 and e^2 - 1 is 1 and 4.
    sizes = (2.718281828459045 - 1, 7.38905609893065 - 1)
    values = (sizes[0] ** 3, 4 * sizes[1] ** 3)
    assert growth(values, sizes, squared_log=True) == pytest.approx(3)
    assert growth(values, sizes, squared_log=False) > 4


def test_powers_of_table_4(make_results):
    """Rows that grow as m^4 n^3 ln^2(m+1) for MVG and as m^3 n^3 for IDN; not so where m > n."""

    def loss(mechanism, m, n):
        if m > n:
            return 1.0
        return m**4 * n**3 * np.log(m + 1) ** 2 if mechanism == "mvg-sqrt" else float(m * n) ** 3

    cell = {
        "experiment": "noise_only",
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
    assert np.allclose(table.loc["mvg-sqrt", ["power of m", "power of n"]].astype(float), [4, 3])
    assert np.allclose(table.loc["idn", ["power of m", "power of n"]].astype(float), [3, 3])
    assert table.loc["mvg-sqrt", "stated power of m"] == 4
