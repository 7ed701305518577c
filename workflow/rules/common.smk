"""The checked configuration, and the names and functions that the rules share."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

from snakemake.settings.enums import Quietness

from datasets import DataError
from runs.batches import batches_of, cells_in_words, write_plan
from runs.cells import results_folder
from runs.job import PLANNER
from runs.provenance import ENDING, JOINED
from runs.start import write_end
from runs.results import summary_of
from studies.base.settings import nearest
from runs.config import check_config
from runs.sources import digest_of
from studies.base.yaml_file import ConfigError, errors_in, read_yaml
from studies.base.study import all_studies
from mechanisms import UnknownMechanism
from claims.ledger import judging_sources
from paper_figures.drawings import by_studies, drawings_for, words_of

try:
    # Snakemake has read these files already, but it silently keeps the last of two equal keys.
    for path in workflow.configfiles:
        read_yaml(path)
    # A value from --config is in no file.
    alone = len(workflow.configfiles) == 1 and not workflow.config_settings.config
    with errors_in(workflow.configfiles[0]) if alone else nullcontext():
        CONFIG = check_config(config)
except (ConfigError, UnknownMechanism) as error:
    # Exit with one line, because Snakemake would add where in this file the error was raised.
    sys.exit(f"error: {error}")

# Scripts read the checked limits from here: as params, raised limits would rerun every cell.
config["limits"] = CONFIG["limits"]

# Jobs end when this process ends; on a cluster each job ends with a Snakemake of its own.
os.environ[PLANNER] = str(os.getpid())

ENVIRONMENT = "../../envs/environment.yaml"
RUN = results_folder(CONFIG)
DATA = Path(CONFIG["data"]["folder"])
BATCHES = {batch.stem: batch for batch in batches_of(CONFIG)}
CELLS = [cell for batch in BATCHES.values() for cell in batch.cells]
# Only the main process writes the plan; the Snakemakes of cluster jobs read it.
if workflow.is_main_process:
    try:
        write_plan(RUN, BATCHES.values())
    except (DataError, OSError) as error:
        sys.exit(f"error: {error}")
if workflow.output_settings.dryrun:
    print(cells_in_words(CELLS, RUN), file=sys.stderr)
    # Print one table instead of every job twice and all their names in one line. `--quiet host`
    # lists the jobs with their reasons.
    if not {"-q", "--quiet"} & set(sys.argv):
        workflow.output_settings.quiet = {Quietness.RULES, Quietness.PROGRESS}
DRAWINGS = drawings_for(set(CONFIG["studies"]) | {f"{cell.study}/{cell.dataset}" for cell in CELLS})
DRAWING_JOBS = by_studies(DRAWINGS.values())
STUDIES = all_studies()
OFFICIAL = sorted({name for batch in BATCHES.values() for name in batch.downloads})


wildcard_constraints:
    dataset=r"[a-z0-9_-]+",
    study=r"[a-z0-9_]+",
    batch=r"[a-z0-9_]+/[0-9]+",
    # No rule makes files outside of data/ and the folder of this run, or drawings that the run does
    # not have.
    target=(
        rf"[^/]+|results/(?!{CONFIG['run']}/).+"
        rf"|results/{CONFIG['run']}/(figures|tables)/(?!({'|'.join(DRAWINGS)})\.).+"
    ),


def files_of_study(study):
    """Return the files of a joined study: rows, timings, manifest, a mark, and maps if any."""
    endings = [".parquet", ".timings.parquet", ENDING, JOINED]
    endings += [".maps.parquet"] if STUDIES[study].maps else []
    return [RUN / "studies" / f"{study}{ending}" for ending in endings]


def no_target(name):
    """Return the error message for a target that this config does not have."""
    known = [each.name for each in workflow.rules if not each.has_wildcards()]
    hint = nearest(name, known, "did you mean {!r}? ")
    return (
        f"the run {CONFIG['run']} has no target {name}; {hint}it has {', '.join(known)}, and files "
        f"in {RUN}/"
    )


def drawn(drawing):
    """Return the committed files of one figure or table; a PDF or TeX file is drawn beside them."""
    endings = {"figures": ("png", "csv", "md"), "tables": ("csv", "md")}
    return [RUN / drawing.kind / f"{drawing.name}.{each}" for each in endings[drawing.kind]]


def caption_of(drawing):
    """Return the file with a drawing's caption for the report; write it if a report is made."""
    caption = RUN / "captions" / f"{drawing.name}.rst"
    words = RUN / drawing.kind / f"{drawing.name}.md"
    if "--report" in sys.argv and words.exists():
        caption.parent.mkdir(exist_ok=True)
        caption.write_text(in_restructured_text(words_of(words)), encoding="utf-8")
    return caption


def in_restructured_text(words):
    """Join paragraphs for the report, with the markup of reStructuredText escaped."""
    marks = str.maketrans({mark: f"\\{mark}" for mark in "\\|*`_"})
    return "\n\n".join(words).translate(marks) + "\n"


def in_report(drawing):
    """Return the files of one figure or table; mark its picture or numbers for the report."""
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
    """Return the files of every figure, or of every table."""
    return [path for each in DRAWINGS.values() if each.kind == kind for path in drawn(each)]


def with_tables(drawings):
    """Return the files of figures and tables, and of the results that they are drawn from.

    A target lists both, because Snakemake does not remake a missing file, as after `redo`, while
    the files made from it exist.
    """
    drawings = list(drawings)
    files = {file for each in drawings for file in each.files}
    needed = {path for file in files for path in files_of_study(file.partition(".")[0])}
    return [path for each in drawings for path in drawn(each)] + sorted(needed)


def print_summary():
    """Print what became of the cells of this run and what was found; return the number of failures.

    The findings are left out until the claims have been judged.
    """
    there = [path for path in map(rows_file, CONFIG["studies"]) if path.exists()]
    if not there:
        return 0
    text, failed = summary_of(RUN, there)
    found = []
    if (RUN / "claims.csv").exists():
        from claims.mechanism_titles import name_own
        from site_builder.insight import insight

        name_own(config.get("also") or ())
        found = insight(RUN)
    print(write_end(RUN, text, found), end="", file=sys.stderr)
    return failed


def print_stop():
    """Print what became of the cells of this run, and what remains after it has stopped early."""
    there = [path for path in map(rows_file, CONFIG["studies"]) if path.exists()]
    text = summary_of(RUN, there)[0] if there else ""
    text += (
        "stopped before the end; the same command resumes: cells, then figures and verdicts\n"
        f"{cells_in_words(CELLS, RUN)}\n"
    )
    print(write_end(RUN, text, []), end="", file=sys.stderr)


def print_what_is_missing():
    """Print the studies that the summary leaves out; without any table there is no summary."""
    missing = [name for name in CONFIG["studies"] if not rows_file(name).exists()]
    if 0 < len(missing) < len(CONFIG["studies"]):
        print(f"{RUN}: no table yet of {', '.join(missing)}", file=sys.stderr)


def rows_file(study):
    """Return the table of a study's rows."""
    return RUN / "studies" / f"{study}.parquet"
