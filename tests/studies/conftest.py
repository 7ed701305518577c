"""Official data, where DATA_MIRROR names a folder with the files."""

import os

import pytest

from datasets import fetch


@pytest.fixture(scope="session")
def official_data(tmp_path_factory):
    """From a data set to a folder with its official files; skips without DATA_MIRROR."""
    folder = tmp_path_factory.mktemp("data")

    def fetched(dataset):
        mirror = os.environ.get("DATA_MIRROR")
        if not mirror:
            pytest.skip("DATA_MIRROR is not set: it names a folder with the official files")
        fetch(dataset, folder, mirror=mirror)
        return folder

    return fetched
