"""Mechanisms that talk, sleep, die or raise are told, and the others ranked."""

import textwrap

from compared_rows import BUDGET

from mechanisms import Query, compare

OUTSIDE = '''
"""Mechanisms that do what no mechanism should."""

import os
import time

from mechanisms import AdditiveMechanism
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
'''


def test_mechanisms_that_misbehave_are_told_and_the_others_ranked(tmp_path, monkeypatch, capfd):
    (tmp_path / "odd_noises.py").write_text(textwrap.dedent(OUTSIDE))
    monkeypatch.syspath_prepend(tmp_path)
    names = [f"odd_noises:{name}" for name in ("Sleeps", "Dies", "Raises", "Talks")]
    frame = compare(
        Query(shape=(3,), l2_sensitivity=1.0), BUDGET, mechanisms=[*names, "laplace"], seconds=4
    )
    first = frame.drop_duplicates("mechanism").set_index("mechanism")
    assert first.loc["sleeps", "status"] == "too slow"
    assert "longer than 4 seconds" in first.loc["sleeps", "note"]
    assert first.loc["dies", "status"] == "failed"
    assert first.loc["raises", "note"] == "raised ZeroDivisionError: division by zero"
    assert first.loc["talks", "rank"] == 1
    assert first.loc["laplace", "note"].startswith("needs l1_sensitivity")
    assert len(frame) == 2 * 5
