"""The child process of a cell: measures one grid point after the other.

Every finished point is a JSON file, so that a killed cell goes on where it stopped; the file
``current`` tells the parent which point was running when the child died.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path

from experiments.experiment import Names, Point, Value, Variant
from experiments.parts import failure, part_path, write_part
from experiments.table import ERROR, OK, UNSUPPORTED
from mechanisms import OutOfRangeWarning, Unsupported, get_mechanism


def main(specification_path: str, folder: str) -> None:
    """Measure every point of the cell that has no file yet in `folder`."""
    parent = os.getppid()
    specification = json.loads(Path(specification_path).read_text())
    experiment = importlib.import_module(f"experiments.{specification['experiment']}")
    variant = Variant(
        name=specification["mechanism"],
        mechanism=get_mechanism(specification["use"]),
        options=specification["options"],
    )
    names = Names(
        base_seed=specification["seed"],
        experiment=specification["experiment"],
        dataset=specification["dataset"],
        mechanism=specification["mechanism"],
    )
    settings, dataset = specification["settings"], specification["dataset"]
    problem = experiment.load(settings, dataset, Path(specification["data_folder"]), names)
    points = [Point.from_list(data) for data in specification["points"]]
    started, measured = time.monotonic(), 0
    for index, point in enumerate(points):
        if part_path(folder, index).exists():
            continue
        if os.getppid() != parent:
            sys.exit("the run that started this cell is gone; stopping")
        Path(folder, "current").write_text(str(index))
        values = _measured(experiment, problem, variant, specification["footing"], point, names)
        write_part(folder, index, values)
        measured += 1
        seconds = time.monotonic() - started
        left = seconds / measured * (len(points) - index - 1)
        print(
            f"{specification['experiment']} {dataset} {variant.name} {specification['footing']}: "
            f"point {index + 1} of {len(points)}, {seconds:.1f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )


def _measured(
    experiment, problem, variant: Variant, footing: str, point: Point, names: Names
) -> list[dict]:
    """Rows of one point; an exception of the mechanism is a row, not a crash."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OutOfRangeWarning)
        try:
            values = list(experiment.measure(problem, variant, footing, point, names))
        except Unsupported as reason:
            return failure(UNSUPPORTED, str(reason))
        except Exception as error:
            traceback.print_exc()
            return failure(ERROR, f"{type(error).__name__}: {error}")
    notices = [str(w.message) for w in caught if issubclass(w.category, OutOfRangeWarning)]
    message = "; ".join(dict.fromkeys(notices))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
    values.append(Value("peak_memory_bytes", float(peak), timing=True))
    return [
        {
            "metric": value.metric,
            "value": float(value.value),
            "trial": value.trial,
            "element": value.element,
            "seed": value.seed,
            "status": OK,
            "message": message,
            "timing": value.timing,
        }
        for value in values
    ]


# getrusage gives kilobytes on Linux and bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024

if __name__ == "__main__":
    main(*sys.argv[1:])
