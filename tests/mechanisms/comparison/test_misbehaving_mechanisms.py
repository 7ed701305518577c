"""Mechanisms that print, sleep, die or raise are named, and the others are ranked."""

import textwrap

import pytest
from compared_rows import BUDGET

from mechanisms import Query, compare
from mechanisms.__main__ import main

QUERY = Query(shape=(3,), l2_sensitivity=1.0)

OUTSIDE = '''
"""Mechanisms that do what no mechanism should."""

import os
import time

from mechanisms import AdditiveMechanism, Inconsistent
from mechanisms.noise.gaussian_noise import IndependentGaussian


class Talks(AdditiveMechanism):
    key, title, paper, theorem, guarantee = "talks", "Talks", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        print("[]", flush=True)
        return IndependentGaussian(shape=query.shape, sigma=10.0)


class Sleeps(Talks):
    key = "sleeps"

    @classmethod
    def noise_for(cls, query, budget):
        time.sleep(60)


class Dies(Talks):
    key = "dies"

    @classmethod
    def noise_for(cls, query, budget):
        os._exit(1)


class Raises(Talks):
    key = "raises"

    @classmethod
    def noise_for(cls, query, budget):
        return 1 / 0


class Contradicts(Talks):
    key = "contradicts"

    @classmethod
    def noise_for(cls, query, budget):
        raise Inconsistent("its scale is two numbers")
'''


@pytest.fixture
def odd_noises(tmp_path, monkeypatch):
    """Write the module into a folder on the import path."""
    (tmp_path / "odd_noises.py").write_text(textwrap.dedent(OUTSIDE))
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("odd_noises")
def test_mechanisms_that_print_die_or_raise_are_named_and_the_others_ranked(capfd):
    names = [f"odd_noises:{name}" for name in ("Dies", "Raises", "Contradicts", "Talks")]
    frame = compare(QUERY, BUDGET, mechanisms=[*names, "laplace"])
    first = frame.drop_duplicates("mechanism").set_index("mechanism")
    assert first.loc["odd_noises:Dies", "status"] == "failed"
    assert first.loc["odd_noises:Raises", "note"] == "raised ZeroDivisionError: division by zero"
    assert first.loc["odd_noises:Contradicts", "verdict"] == "inconsistent"
    said = "contradicts itself: its scale is two numbers"
    assert first.loc["odd_noises:Contradicts", "note"] == said
    assert first.loc["odd_noises:Talks", "rank"] == 1
    assert first.loc["laplace", "note"].startswith("needs l1_sensitivity")
    assert len(frame) == 2 * 5


@pytest.mark.usefixtures("odd_noises")
def test_a_mechanism_from_elsewhere_has_a_table_and_code_that_finds_it(capsys):
    asked = ["compare", "--shape", "4", "--l2-sensitivity", "1", "--epsilon", "1"]
    asked += ["--delta", "1e-5", "--mechanisms", "odd_noises:Talks"]
    assert main(asked) == 0
    assert "odd_noises:Talks  exact" in capsys.readouterr().out
    assert main([*asked, "--best"]) == 0
    assert 'get_mechanism("odd_noises:Talks").calibrate(' in capsys.readouterr().out


@pytest.mark.usefixtures("odd_noises")
def test_a_mechanism_that_sleeps_is_stopped():
    frame = compare(QUERY, BUDGET, mechanisms=["odd_noises:Sleeps"], seconds=2)
    assert set(frame["status"]) == {"too slow"}
    assert frame["note"].str.contains("longer than 2 seconds").all()
