"""The numbers of the advisor's page: the errors that it states hold at every point compared."""

import math

import pytest

from site_builder.advisor_grid import (
    MARGIN,
    TABLES,
    Table,
    computed,
    in_core,
    interpolated,
    points,
    read,
    stated_errors,
)


def _wave(size: int, epsilon: float, delta: float) -> float:
    return math.sin(9 * math.log(epsilon)) / size


def test_the_error_of_the_core_counts_the_points_of_both_draws(monkeypatch):
    table = Table(_wave, (1, 10, 100), (0.1, 1.0, 10.0), (1e-6,), core=(1.0, 1e-6), core_size=10)
    monkeypatch.setitem(TABLES, "wave", table)
    grid = computed(table)
    stated = stated_errors("wave", grid)
    off = {
        p: abs(_wave(*p) - interpolated(grid, *p))
        for p in points("wave") + points("wave", table.core)
    }
    inside = [off[point] for point in off if in_core(table, *point)]
    assert 200 < len(inside) < len(off) == 400
    for name, found in (("error", off.values()), ("core_error", inside)):
        assert MARGIN * max(found) <= stated[name] < 1.1 * MARGIN * max(found)
    assert stated["core_error"] < stated["error"]


@pytest.mark.parametrize(
    ("point", "error"),
    [
        ((40, 0.09502934132391988, 3.702134776182111e-06), "core_error"),
        ((2, 0.05529526906924409, 1.6954124566861263e-06), "error"),
    ],
)
def test_the_limit_is_as_near_as_stated_where_it_is_furthest(point, error):
    grid = read()["limit"]
    assert point in points("limit") and in_core(TABLES["limit"], *point) == (error == "core_error")
    off = abs(TABLES["limit"].value(*point) - interpolated(grid, *point))
    assert MARGIN * off <= grid[error] < 1.1 * MARGIN * off
