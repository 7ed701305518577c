"""A damaged checkpoint is discarded and is not blamed on the mechanism."""

import numpy as np
import pytest
import torch

from learning.training.rounds import Round, begin, keep

START = np.zeros(50, np.float32)
PARAMETERS = torch.arange(50, dtype=torch.float32)
HISTORY = [Round((0.5, 0.25), 1.25), Round((), 2.0)]


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "epsilon-1-0.checkpoint"
    keep(path, PARAMETERS, HISTORY)
    return path


def test_a_saved_checkpoint_is_read(checkpoint):
    parameters, history = begin(START, checkpoint)
    assert torch.equal(parameters, PARAMETERS)
    assert history == HISTORY
    assert [path.name for path in checkpoint.parent.iterdir()] == [checkpoint.name]


def cut_and_changed(whole):
    """Copies of a file that end early, or have one other bit."""
    for size in (0, 1, 31, 32, 100, len(whole) // 2, len(whole) - 1):
        yield whole[:size]
    for bit in np.random.default_rng(0).integers(8 * len(whole), size=100):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << (bit % 8)
        yield changed


def test_without_an_intact_checkpoint_training_starts_at_the_start(checkpoint):
    """PyTorch itself reads most of the changed files without an error, as other parameters."""
    for damaged in (None, *cut_and_changed(checkpoint.read_bytes())):
        checkpoint.unlink(missing_ok=True)
        if damaged is not None:
            checkpoint.write_bytes(damaged)
        parameters, history = begin(START, checkpoint)
        assert history == [] and np.array_equal(parameters.numpy(), START)


def locations_in(path):
    """The devices that a file records for its tensors."""
    found = []
    torch.load(path, map_location=lambda storage, place: found.append(place) or storage)
    return set(found)


def test_a_checkpoint_names_no_device_and_needs_none(checkpoint, monkeypatch):
    assert locations_in(checkpoint) == {"cpu"}
    # A file like one from a program that keeps its tensors on a GPU.
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
    keep(checkpoint, PARAMETERS, HISTORY)
    assert locations_in(checkpoint) == {"cuda:0"}
    kept, history = begin(START, checkpoint)
    assert kept.device.type == "cpu" and torch.equal(kept, PARAMETERS)
    assert history == HISTORY
