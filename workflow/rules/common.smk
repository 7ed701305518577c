"""The checked configuration, and the names that the rules share."""

from pathlib import Path

from snakemake.exceptions import WorkflowError

from runs.cells import cells_of, results_folder
from experiments.contract.settings import ConfigError
from runs.config import check_config
from runs.yaml_file import read_yaml
from experiments.contract.study import all_experiments, maps_of
from mechanisms import UnknownMechanism
from paper_figures.ledger import judging_sources
from paper_figures.drawings import drawings_for, words_of

try:
    # Snakemake has read them already, but keeps the last of two equal keys without a word.
    for path in workflow.configfiles:
        read_yaml(path)
    CONFIG = check_config(config)
except (ConfigError, UnknownMechanism) as error:
    raise WorkflowError(f"configuration: {error}") from None

# Scripts read the checked limits from here: as params they would rerun every cell when raised.
config["limits"] = CONFIG["limits"]

ENVIRONMENT = "../../envs/environment.yaml"
RUN = results_folder(CONFIG)
DATA = Path(CONFIG["data"]["folder"])
CELLS = {cell.stem: cell for cell in cells_of(CONFIG)}
DRAWINGS = drawings_for(
    set(CONFIG["experiments"]) | {f"{cell.experiment}/{cell.dataset}" for cell in CELLS.values()}
)
# The captions of what is drawn already: the templates of the report can read nothing else.
config["captions"] = {
    name: words_of(RUN / drawing.kind / f"{name}.md") for name, drawing in DRAWINGS.items()
}
STUDIES = all_experiments()
OFFICIAL = sorted({name for cell in CELLS.values() for name in cell.downloads(CONFIG)})


wildcard_constraints:
    dataset=r"[a-z0-9_-]+",
    experiment=r"[a-z0-9_]+",
    cell=r"[a-z0-9_]+/[a-z0-9_-]+/[a-z0-9_-]+",
    drawing=r"[a-z0-9_]+",


def cell_files(experiment, ending):
    """Files of every cell of an experiment, in the order of the config."""
    return [
        RUN / "cells" / f"{stem}{ending}"
        for stem, cell in CELLS.items()
        if cell.experiment == experiment
    ]


def cell_inputs(wildcards):
    """Code and data of one cell."""
    cell = CELLS[wildcards.cell]
    return {
        "sources": cell.sources(CONFIG),
        "data": [DATA / name / "fetched.json" for name in cell.downloads(CONFIG)],
    }


def drawing_inputs(wildcards):
    """Results and code of one figure or table."""
    drawing = DRAWINGS[wildcards.drawing]
    files = [RUN / "experiments" / file for file in drawing.files]
    return {"results": files, "sources": drawing.sources()}


def drawn(kind, drawing):
    """Files of one figure or table."""
    endings = {"figures": ("pdf", "png", "csv", "md"), "tables": ("csv", "md", "tex")}[kind]
    return [RUN / kind / f"{drawing}.{ending}" for ending in endings]


def in_report(kind, shown):
    """The same for any drawing, with the file of this ending in the report."""
    marks = {
        "caption": "../report/drawing.rst",
        "category": lambda wildcards: DRAWINGS[wildcards.drawing].paper,
        "labels": lambda wildcards: {
            "name": wildcards.drawing,
            "kind": kind.removesuffix("s"),
            "reads": ", ".join(DRAWINGS[wildcards.drawing].needs),
        },
    }
    paths = drawn(kind, "{drawing}")
    return [report(path, **marks) if path.suffix == shown else path for path in paths]


def all_drawn(kind):
    """Files of every figure, or every table."""
    return [path for name, d in DRAWINGS.items() if d.kind == kind for path in drawn(kind, name)]
