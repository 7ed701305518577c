"""The checked configuration, and the names that the rules share."""

import sys
from pathlib import Path

from runs.cells import cells_of, results_folder
from experiments.contract.settings import ConfigError, nearest
from runs.config import check_config
from runs.yaml_file import located, read_yaml
from experiments.contract.study import all_experiments, maps_of
from mechanisms import UnknownMechanism
from paper_figures.ledger import judging_sources
from paper_figures.drawings import drawings_for

try:
    # Snakemake has read them already, but keeps the last of two equal keys without a word.
    for path in workflow.configfiles:
        read_yaml(path)
    try:
        CONFIG = check_config(config)
    except ConfigError as error:
        # A value of --config stands in no file.
        alone = len(workflow.configfiles) == 1 and not workflow.config_settings.config
        raise located(error, workflow.configfiles[0]) if alone else error from None
except (ConfigError, UnknownMechanism) as error:
    # One line; Snakemake would add where in this file it was raised.
    sys.exit(f"error: {error}")

# Scripts read the checked limits from here: as params they would rerun every cell when raised.
config["limits"] = CONFIG["limits"]

ENVIRONMENT = "../../envs/environment.yaml"
RUN = results_folder(CONFIG)
DATA = Path(CONFIG["data"]["folder"])
CELLS = {cell.stem: cell for cell in cells_of(CONFIG)}
DRAWINGS = drawings_for(
    set(CONFIG["experiments"]) | {f"{cell.experiment}/{cell.dataset}" for cell in CELLS.values()}
)
STUDIES = all_experiments()
OFFICIAL = sorted({name for cell in CELLS.values() for name in cell.downloads(CONFIG)})


wildcard_constraints:
    dataset=r"[a-z0-9_-]+",
    experiment=r"[a-z0-9_]+",
    cell=r"[a-z0-9_]+/[a-z0-9_-]+/[a-z0-9_-]+",
    drawing=r"[a-z0-9_]+",
    # What no rule makes: rules make files in data/ and in the folder of this run.
    target=rf"[^/]+|results/(?!{CONFIG['run']}/).+",


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


def no_target(name):
    """What to say about a target that this config does not have."""
    known = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
    hint = nearest(name, known, "did you mean {!r}? ")
    return (
        f"the run {CONFIG['run']} has no target {name}; {hint}it has {', '.join(known)}, and files "
        f"in {RUN}/"
    )


def drawing_inputs(wildcards):
    """Results and code of one figure or table."""
    if wildcards.drawing not in DRAWINGS:
        sys.exit(f"error: {no_target(wildcards.drawing)}")
    drawing = DRAWINGS[wildcards.drawing]
    files = [RUN / "experiments" / file for file in drawing.files]
    return {"results": files, "sources": drawing.sources()}


def drawn(kind, drawing):
    """Files of one figure or table."""
    endings = {"figures": ("pdf", "png", "csv", "md"), "tables": ("csv", "md", "tex")}[kind]
    return [RUN / kind / f"{drawing}.{ending}" for ending in endings]


def all_drawn(kind):
    """Files of every figure, or every table."""
    return [path for name, d in DRAWINGS.items() if d.kind == kind for path in drawn(kind, name)]
