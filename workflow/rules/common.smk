"""The checked configuration, and the names that the rules share."""

import os
import sys
from pathlib import Path

from snakemake.settings.enums import Quietness

from datasets import DataError
from runs.batches import batches_of, cells_in_words
from runs.cells import cells_of, results_folder
from runs.job import PLANNER
from runs.manifest import ENDING, JOINED
from runs.plan import write_plan
from runs.start import write_end
from runs.summary import summary_of
from studies.base.settings import nearest
from runs.config import check_config
from runs.sources import digest_of
from studies.base.yaml_file import ConfigError, located, read_yaml
from studies.base.study import all_studies
from mechanisms import UnknownMechanism
from claims.ledger import judging_sources
from paper_figures.drawings import by_studies, drawings_for, words_of

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

# Jobs end with this process; on a cluster each job has a Snakemake of its own, which they end with.
os.environ[PLANNER] = str(os.getpid())

ENVIRONMENT = "../../envs/environment.yaml"
RUN = results_folder(CONFIG)
DATA = Path(CONFIG["data"]["folder"])
CELLS = cells_of(CONFIG)
BATCHES = {batch.stem: batch for batch in batches_of(CONFIG)}
# The jobs of a cluster have Snakemakes of their own, which read the plan.
if workflow.is_main_process:
    try:
        write_plan(RUN, CONFIG, BATCHES.values())
    except (DataError, OSError) as error:
        sys.exit(f"error: {error}")
if workflow.output_settings.dryrun:
    print(cells_in_words(CONFIG, RUN), file=sys.stderr)
    # One table, in place of every job twice and of all their names in one line. `--quiet host` has
    # the jobs with their reasons.
    if not {"-q", "--quiet"} & set(sys.argv):
        workflow.output_settings.quiet = {Quietness.RULES, Quietness.PROGRESS}
DRAWINGS = drawings_for(set(CONFIG["studies"]) | {f"{cell.study}/{cell.dataset}" for cell in CELLS})
DRAWING_JOBS = by_studies(DRAWINGS.values())
STUDIES = all_studies()
OFFICIAL = sorted({name for batch in BATCHES.values() for name in batch.downloads(CONFIG)})


wildcard_constraints:
    dataset=r"[a-z0-9_-]+",
    study=r"[a-z0-9_]+",
    batch=r"[a-z0-9_]+/[0-9]+",
    # What nothing here makes: files outside of data/ and of the folder of this run, and drawings
    # that the run does not have.
    target=(
        rf"[^/]+|results/(?!{CONFIG['run']}/).+"
        rf"|results/{CONFIG['run']}/(figures|tables)/(?!({'|'.join(DRAWINGS)})\.).+"
    ),


def tables_of(study):
    """What a study is joined to: rows, seconds, cells, a mark that it is, and maps if it has any."""
    endings = [".parquet", ".timings.parquet", ENDING, JOINED]
    endings += [".maps.parquet"] if STUDIES[study].maps else []
    return [RUN / "studies" / f"{study}{ending}" for ending in endings]


def no_target(name):
    """What to say about a target that this config does not have."""
    known = [each.name for each in workflow.rules if not each.has_wildcards()]
    hint = nearest(name, known, "did you mean {!r}? ")
    return (
        f"the run {CONFIG['run']} has no target {name}; {hint}it has {', '.join(known)}, and files "
        f"in {RUN}/"
    )


def drawn(drawing):
    """Files of one figure or table that are committed; a PDF or a TeX file is drawn beside them."""
    endings = {"figures": ("png", "csv", "md"), "tables": ("csv", "md")}
    return [RUN / drawing.kind / f"{drawing.name}.{each}" for each in endings[drawing.kind]]


def caption_of(drawing):
    """The file with the words below a drawing in the report, which is made as the report is."""
    caption = RUN / "captions" / f"{drawing.name}.rst"
    words = RUN / drawing.kind / f"{drawing.name}.md"
    if "--report" in sys.argv and words.exists():
        caption.parent.mkdir(exist_ok=True)
        caption.write_text(in_restructured_text(words_of(words)), encoding="utf-8")
    return caption


def in_restructured_text(words):
    """Paragraphs of text for the report, its marks escaped."""
    marks = str.maketrans({mark: f"\\{mark}" for mark in "\\|*`_"})
    return "\n\n".join(words).translate(marks) + "\n"


def in_report(drawing):
    """Files of one figure or table, its picture or its numbers marked for the report."""
    shown = report(
        RUN / drawing.kind / f"{drawing.name}.{'png' if drawing.kind == 'figures' else 'csv'}",
        caption=str(caption_of(drawing).resolve()),
        category=drawing.paper,
        labels={
            "name": drawing.name,
            "kind": drawing.kind.removesuffix("s"),
            "reads": ", ".join(drawing.needs),
        },
    )
    others = [path for path in drawn(drawing) if path != Path(shown)]
    return [shown, *others]


def all_drawn(kind):
    """Files of every figure, or every table."""
    return [path for each in DRAWINGS.values() if each.kind == kind for path in drawn(each)]


def with_tables(drawings):
    """Files of figures and tables, and of the results that they are drawn from.

    A target lists both: Snakemake does not make a missing file again, as after `redo`, while what
    was made of it is there.
    """
    drawings = list(drawings)
    files = {file for each in drawings for file in each.files}
    needed = {path for file in files for path in tables_of(file.partition(".")[0])}
    return [path for each in drawings for path in drawn(each)] + sorted(needed)


def print_summary():
    """Show what became of the cells that this run has, and what they say; returns how many failed.

    What the rows say is left out while nothing has judged them.
    """
    there = [path for path in map(table_of, CONFIG["studies"]) if path.exists()]
    text, failed = summary_of(RUN, there) if there else ("", 0)
    if (RUN / "claims.csv").exists():
        from site_builder.insight import insight

        text = write_end(RUN, text, insight(RUN))
    print(text, end="", file=sys.stderr)
    return failed


def print_stop():
    """Show what became of the cells that this run has, and what a run that stopped leaves to do."""
    there = [path for path in map(table_of, CONFIG["studies"]) if path.exists()]
    text = summary_of(RUN, there)[0] if there else ""
    text += f"stopped before the end; the same command goes on. {cells_in_words(CONFIG, RUN)}\n"
    print(write_end(RUN, text, []), end="", file=sys.stderr)


def print_what_is_missing():
    """Name the studies of this run that the summary leaves out."""
    missing = [name for name in CONFIG["studies"] if not table_of(name).exists()]
    if missing:
        print(f"{RUN}: no table yet of {', '.join(missing)}", file=sys.stderr)


def table_of(study):
    """The table of a study's rows."""
    return RUN / "studies" / f"{study}.parquet"
