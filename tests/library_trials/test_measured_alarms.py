"""The committed count of false alarms: how it grows, what is said of it, and runs of it again."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import measure_library_trials as measured

PAGE = Path(__file__).resolve().parents[2] / "library_trials/README.md"


def test_the_page_says_what_was_counted():
    assert measured.sentence() in " ".join(PAGE.read_text().split())


@pytest.mark.parametrize("name", measured.SAMPLERS)
def test_the_first_runs_accuse_what_is_counted(name):
    """A run has the same draws again: no check that has no alarm in the table may have one."""
    table = measured.read()
    assert table[name, "any"][0] >= 1000
    alarms = set().union(*(measured.accusing(name, seed) for seed in range(3)))
    assert alarms <= {check for (of, check), (_, count) in table.items() if of == name and count}


def test_noise_of_another_scale_is_accused_by_the_same_runs(monkeypatch):
    right = measured.sampler

    def wrong(grid, seed):
        correct = right(grid, seed)

        def make():
            release, stated = correct()
            return release, {**stated, "scale": 2 * stated["scale"]}

        return make

    monkeypatch.setattr(measured, "sampler", wrong)
    assert {"law", "scale"} <= measured.accusing("whole numbers", 0)


def test_a_count_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    begun = []

    def accusing(name, seed):
        begun.append((name, seed))
        return {"law", "bias"} if seed == 3 else set()

    monkeypatch.setattr(measured, "TABLE", tmp_path / "alarms.csv")
    monkeypatch.setattr(measured, "accusing", accusing)
    measured.measure(2)
    measured.measure(5)
    assert sorted(begun) == sorted((name, seed) for name in measured.SAMPLERS for seed in range(5))
    table = measured.read()
    for name in measured.SAMPLERS:
        found = {check: table[name, check] for check in ("any", "law", "bias", "scale")}
        assert found == {"any": [5, 1], "law": [5, 1], "bias": [5, 1], "scale": [5, 0]}
    # Two of ten: the tail of the binomial law at this rate is 5%.
    (upper,) = re.findall(r"at most ([\d.]+)%", measured.sentence())
    p = float(upper) / 100
    tail = sum(c * p**k * (1 - p) ** (10 - k) for k, c in ((0, 1), (1, 10), (2, 45)))
    assert tail == pytest.approx(0.05, rel=1e-3) and tail <= 0.05
