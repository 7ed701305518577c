"""The child process of a cell: measures one grid point after the other.

Every finished point is a JSON file, so that a killed cell goes on where it stopped; the file
``current`` tells the parent which point was running when the child died.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import signal
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

from experiments.contract.coordinates import check_declared
from experiments.contract.study import (
    Names,
    Point,
    Value,
    Variant,
)
from mechanisms import Inconsistent, OutOfRangeWarning, Unsupported, get_mechanism
from runs.parts import (
    SPECIFICATION,
    begin,
    failure,
    part_path,
    write_part,
)
from runs.result_table import ERROR, INCONSISTENT, OK, PEAK_MEMORY, UNSUPPORTED


def main(folder: str, parent: str) -> None:
    """Measure every point of the cell in `folder` that has no file there yet.

    `parent` is the id of the process that started this one and enforces its limits.
    """
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    specification = json.loads(Path(folder, SPECIFICATION).read_text())
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
        folder=Path(folder),
    )
    settings, dataset = specification["settings"], specification["dataset"]
    problem = experiment.load(settings, dataset, Path(specification["data_folder"]), names)
    points = [Point.from_list(data) for data in specification["points"]]
    started, measured = time.monotonic(), 0
    for index, point in enumerate(points):
        if part_path(folder, index).exists():
            continue
        begin(folder, index)
        values = _measured(experiment, problem, variant, specification["calibration"], point, names)
        write_part(folder, index, values)
        measured += 1
        seconds = time.monotonic() - started
        left = seconds / measured * (len(points) - index - 1)
        print(
            f"{specification['experiment']} {dataset} {variant.name} "
            f"{specification['calibration']}: point {index + 1} of {len(points)}, "
            f"{seconds:.1f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )


def _end_with(parent: int) -> None:
    """Kill this process and its children once `parent` is gone, as nothing else limits them."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _measured(
    experiment, problem, variant: Variant, calibration: str, point: Point, names: Names
) -> list[dict]:
    """Rows of one point; an exception, or a number that is not finite, is a row, not a crash."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OutOfRangeWarning)
        try:
            values = list(experiment.measure(problem, variant, calibration, point, names))
            _require_declared(experiment, values)
            _require_finite(values)
        except Unsupported as reason:
            return failure(UNSUPPORTED, str(reason))
        except Inconsistent as contradiction:
            return failure(INCONSISTENT, str(contradiction))
        except Exception as error:
            traceback.print_exc()
            return failure(ERROR, f"{type(error).__name__}: {error}")
        finally:
            notices = _notices(caught)
    message = "; ".join(dict.fromkeys(notices))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
    values.append(Value(PEAK_MEMORY, float(peak), timing=True))
    return [
        {
            "metric": value.metric,
            "value": float(value.value),
            "trial": value.trial,
            **value.at,
            "seed": value.seed,
            "status": OK,
            "message": message,
            "timing": value.timing,
        }
        for value in values
    ]


def _require_declared(experiment, values: list[Value]) -> None:
    for value in values:
        check_declared(value.metric, value.at, experiment.METRICS, experiment.COORDINATES)


def _require_finite(values: list[Value]) -> None:
    for value in values:
        if not math.isfinite(value.value):
            where = "" if value.trial is None else f" in trial {value.trial}"
            raise ArithmeticError(f"{value.metric} is {value.value}{where}")


def _notices(caught: list[warnings.WarningMessage]) -> list[str]:
    """Out-of-range use, which goes into the rows; every other warning goes to stderr."""
    notices = []
    for w in caught:
        if issubclass(w.category, OutOfRangeWarning):
            notices.append(str(w.message))
        else:
            text = warnings.formatwarning(w.message, w.category, w.filename, w.lineno)
            sys.stderr.write(text)
    return notices


# getrusage gives kilobytes on Linux and bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024

if __name__ == "__main__":
    main(*sys.argv[1:])
