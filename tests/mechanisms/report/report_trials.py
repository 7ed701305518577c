"""Reports on the noises and files of this folder, as small as they can be."""

import itertools
from pathlib import Path

from foreign_noises import TRUTH
from hostile_files import MISBEHAVING

from mechanisms.report.report import Report, report_on
from mechanisms.report.subject import subject_of

NOISES = Path(__file__).with_name("foreign_noises.py")
_NAMES = itertools.count()


def of_foreign_noise(name: str) -> Report:
    """At one setting, without a comparison."""
    stated, epsilon, delta, _ = TRUTH[name]
    size = {"shape": (4,), "l2_sensitivity": 1.0}
    if stated is None and name != "RandomisedResponse":
        stated, epsilon = size, 1.0
    return report_on(
        subject_of(f"{NOISES}:{name}", {}), stated=stated, epsilon=epsilon, delta=delta,
        sizes=(1,), epsilons=(1.0,), others=False,
    )  # fmt: skip


def written(folder: Path, source: str) -> Path:
    """A file of its own name: a process imports a module once."""
    path = folder / f"hostile_file_{next(_NAMES)}.py"
    path.write_text(source)
    return path


def hostile_cell(folder: Path, what: str) -> dict:
    """The one cell of a report on a file that misbehaves."""
    path = written(folder, MISBEHAVING[what][0])
    report = report_on(
        subject_of(f"{path}:Mine", {}), stated={"shape": (2,), "l2_sensitivity": 1.0},
        epsilon=1.0, delta=1e-5, others=False,
    )  # fmt: skip
    (cell,) = report.cells.values()
    return cell
