"""The problem that the cells of a batch share."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from runs import worker


@pytest.mark.parametrize(("takes_gpu", "loads"), [(False, 1), (True, 0)])
def test_what_may_use_a_gpu_is_not_loaded_before_the_fork(monkeypatch, takes_gpu, loads):
    """CUDA cannot be used again in a forked process."""
    for name in ("_answer", "_freeze"):
        monkeypatch.setattr(worker, name, lambda *_: None)
    monkeypatch.setattr(worker, "exit_with_process", lambda _: nullcontext())
    settings = SimpleNamespace(takes_gpu=takes_gpu)
    monkeypatch.setattr(worker, "_setup", lambda *_: {"settings": settings})
    monkeypatch.setattr(worker, "Setup", SimpleNamespace)
    loaded = []
    study = SimpleNamespace(load=lambda setup, folder: loaded.append(setup))
    problems = worker.Problems(study)
    problems.prepare(SimpleNamespace(problem="mnist", data_folder="data"), 1)
    assert len(loaded) == loads
