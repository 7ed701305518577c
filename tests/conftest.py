"""Fixtures for tests of runs: small configs, an outside mechanism, copies of the project."""

import functools
import gc
import os
import sys
import textwrap
from pathlib import Path

import pytest
from copied_project import Project

# Linear algebra reads this variable when it is imported. Its threads busy-wait for each other:
# where workers share cores, a matrix factorisation takes ten times as long on two threads as on
# one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from datasets import fetch
from runs.cells import cells_of
from runs.config import check_config

# With the default thresholds the collector takes an eighth of a worker's time.
gc.set_threshold(100_000, 20, 100)


def pytest_make_parametrize_id(val, argname):
    """Name bytes by their argument: an archive has the second in which it was written.

    The workers would collect different tests if a second began between them.
    """
    return argname if isinstance(val, bytes) else None


# The queries of noise_only need no data, and the study takes no time at this size.
NOISE_ONLY = {
    "datasets": ["fixed-sensitivity"],
    "epsilons": [1],
    "delta": 1e-5,
    "sizes": ["2x2"],
    "growth_shapes": ["2x2"],
    "growth_epsilon": 1,
    "growth_delta": 1e-5,
    "gradient_shapes": ["2x2"],
    "trials": 2,
    "timed_draws": 1,
}
COUNT_QUERY = {
    "datasets": ["city"],
    "epsilons": [0.5],
    "delta": 1e-7,
    "cells_per_side": 6,
    "trials": 4,
    "rectangles": 5,
    "city_pickups": 300,
    "map_epsilons": {"default": [0.5]},
}
LINEAR_QUERIES = {
    "datasets": ["city-grid", "city-longitude"],
    "epsilons": [0.5],
    "delta": 1e-6,
    "cells_per_side": 6,
    "line_cells": 24,
    "trials": 4,
    "random_queries": 15,
    "city_pickups": 300,
}

PRIVATE_DATA = {
    "datasets": ["digits"],
    "epsilons": [1],
    "delta": 1e-5,
    "classifiers": {"digits": "logistic"},
    "records": {"digits": 200},
    "trials": 2,
}

MECHANISM = '''
"""A mechanism from outside the suite that does what a test wants at each epsilon."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian

HERE = Path(__file__).parent


class Odd(AdditiveMechanism):
    """sigma = 1 / epsilon, unless something else happens first."""

    key, title, paper, theorem, guarantee = "odd", "Odd", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        epsilon, sigma = budget.epsilon, 1 / budget.epsilon
        with open(HERE / "measured", "a") as file:
            file.write(f"{epsilon:g}\\n")
        happen(epsilon)
        return IndependentGaussian(shape=query.shape, sigma=sigma)


'''


def pytest_collection_modifyitems(items):
    """Run slow files first, so that none is left for a single worker at the end."""
    slow = ("workflow", "site_builder")
    items.sort(key=lambda item: [*slow, item.path.parent.name].index(item.path.parent.name))


@pytest.fixture
def make_config():
    """Returns a function that makes a checked config with one study and replaced defaults."""

    def make(study="noise_only", variants=None, limits=None, **settings):
        defaults = {
            "noise_only": NOISE_ONLY,
            "count_query": COUNT_QUERY,
            "linear_queries": LINEAR_QUERIES,
            "private_data": PRIVATE_DATA,
        }[study]
        return check_config(
            {
                "run": "test",
                "limits": limits or {},
                "variants": variants or {},
                "studies": {study: defaults | settings},
            }
        )

    return make


@pytest.fixture
def odd_cell(tmp_path, monkeypatch, make_config):
    """(cell, config, folder) of a mechanism whose `happen(epsilon)` is the code given.

    The module lies in `folder`, where its file `measured` lists every epsilon as it is begun.
    """

    def make(happen, epsilons, **limits):
        folder = tmp_path / "outside"
        folder.mkdir()
        code = "def happen(epsilon):\n" + textwrap.indent(textwrap.dedent(happen), "    ")
        (folder / "odd_mechanism.py").write_text(MECHANISM + code)
        monkeypatch.syspath_prepend(folder)
        config = make_config(
            variants={"odd": {"use": "odd_mechanism:Odd"}},
            limits={"seconds": 60, "memory_gib": 2} | limits,
            mechanisms=["odd"],
            calibrations=["published"],
            epsilons=epsilons,
        )
        (cell,) = cells_of(config)
        return cell, config, folder

    yield make
    # Another test may have imported a different module of this name.
    sys.modules.pop("odd_mechanism", None)


@pytest.fixture(scope="session")
def new_project():
    """Makes a copy of the project in an empty folder."""
    return Project


@pytest.fixture(scope="session")
def mirror():
    """The folder of official data named by DATA_MIRROR."""
    place = os.environ.get("DATA_MIRROR")
    if not place:
        pytest.skip("DATA_MIRROR is not set: the official data are not at hand")
    if not Path(place).is_dir():
        pytest.skip(f"DATA_MIRROR={place} is not a folder")
    return Path(place).resolve()


@pytest.fixture(scope="session")
def official_data(mirror, tmp_path_factory):
    """Returns a function that fetches a data set once per session and returns its folder."""
    folder = tmp_path_factory.mktemp("data")

    @functools.cache
    def fetched(dataset):
        fetch(dataset, folder, mirror=mirror)
        return folder

    return fetched


@pytest.fixture(autouse=True)
def no_open_figures():
    """Close all figures after each test, because Pyplot keeps every open figure."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
