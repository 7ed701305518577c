"""Draw a driver's noise in the environment of its library: trial.py DRIVER NOISE FOLDER COUNT.

A driver has a dictionary NOISES of functions that return `release` and what the library states of
it. With --fresh only a few releases of a new process are drawn. Needs numpy alone.
"""

import inspect
import json
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

SIZE, FEW = 16, 128
# Changes of norm 4, the sensitivity that every driver gives its library.
CHANGES = {"l1": [4] + [0] * (SIZE - 1), "l2": [1] * SIZE, "linf": [4] * SIZE}
# A double holds every 256th of these whole numbers; the second one below is rounded up.
LARGE, STEPS = 2**60, (128, 129)


def draws(release, value, count, number=float) -> np.ndarray:
    """Releases (count, SIZE) of a value."""
    outputs = release([number(each) for each in value] * count)
    return np.array(outputs, dtype=float).reshape(count, SIZE)


def offsets(release, step: int, count: int) -> np.ndarray:
    """Releases of 2^60 + step minus 2^60, exactly."""
    outputs = release([LARGE + step, *[LARGE] * (SIZE - 1)] * count)
    return np.array([float(int(each) - LARGE) for each in outputs]).reshape(count, SIZE)


def told(make_outputs) -> str:
    """The first output of a release, or its error, in words."""
    try:
        output = make_outputs()[0]
    except Exception as error:
        text = str(error).strip().splitlines() or [""]
        return f"raises {type(error).__name__}: {text[0][:100]}"
    shown = float(output) if np.isnan(output) or np.isinf(output) else "a finite number"
    return f"returns {shown} ({type(output).__name__})"


def seeded(make):
    """A release with a seed."""
    if "seed" not in inspect.signature(make).parameters:
        raise ValueError("no seed can be given")
    return make(seed=1)[0]


def in_forks(few) -> list[np.ndarray]:
    """The releases of two forked workers, which are ended after a minute."""
    found = []
    for _ in range(2):
        here, there = os.pipe()
        child = os.fork()
        if not child:
            signal.alarm(60)
            try:
                os.write(there, few().tobytes())
            finally:
                os._exit(0)
        os.close(there)
        with open(here, "rb") as pipe:
            sent = pipe.read()
        os.waitpid(child, 0)
        if not sent:
            raise RuntimeError("a worker released nothing within a minute")
        found.append(np.frombuffer(sent).reshape(FEW, SIZE))
    return found


def in_process(driver: str, name: str, folder: Path) -> np.ndarray:
    """The first releases of a new process."""
    command = [sys.executable, __file__, driver, name, str(folder), "--fresh"]
    subprocess.run(command, check=True)
    return np.load(folder / "fresh.npy")


def main(driver: str, name: str, folder: Path, count: str) -> None:
    make = runpy.run_path(driver)["NOISES"][name]
    release, stated = make()
    number = int if stated["family"].startswith("discrete") else float
    zero = [0] * SIZE

    def few(release=release):
        return draws(release, zero, FEW, number)

    first = few()
    if count == "--fresh":
        np.save(folder / "fresh.npy", first)
        return
    facts = {"stated": stated}
    for which, change in {"zero": zero, **CHANGES}.items():
        np.save(folder / f"{which}.npy", draws(release, change, int(count), number))
    for check, pair in {
        "instances": lambda: [few(make()[0]) for _ in range(2)],
        "processes": lambda: [first, in_process(driver, name, folder)],
        "seeds": lambda: [few(seeded(make)) for _ in range(2)],
        "forks": lambda: in_forks(few),
    }.items():
        try:
            np.save(folder / f"{check}.npy", pair())
        except Exception as error:
            facts[check] = str(error)
    try:
        for step in STEPS:
            np.save(folder / f"large{step}.npy", offsets(release, step, FEW * 8))
    except Exception:
        facts["large"] = told(lambda: release([LARGE + STEPS[1]] * SIZE))
    for check, value in {"float32": np.float32(0.1), "nan": np.nan, "inf": np.inf}.items():
        facts[check] = told(lambda value=value: release([value] * SIZE))
    (folder / "told.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])
