"""A finished run as one file for others: an RO-Crate with the code, the config and the results.

Unzipped it is a folder in which every command of the suite works. Data sets are named by address
and checksum; a cell that is computed again fetches its own.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from pooch import file_hash

from datasets.catalogue import DATASETS
from datasets.entry import Dataset
from mechanisms.query.yaml_file import ConfigError, read_yaml
from runs.archive import write_zip
from runs.cells import cells_of
from runs.config import read_config
from runs.started import RECORD, read_starts
from runs.stored import RESULTS, tables_of

_LEFT_OUT = shutil.ignore_patterns("cells", "batches", "logs", "captions", "site", "*.tmp")
_CRATE = "https://w3id.org/ro/crate/1.1"
# Not in the context of RO-Crate 1.1.
_TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
_WORKFLOW = "https://w3id.org/workflowhub/workflow-ro-crate"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    f"{_WORKFLOW}/1.0": "Workflow RO-Crate",
}
_DESCRIPTION = (
    "The run {0}: the code, its pinned packages (envs/requirements.txt), the config and the "
    "results. With the packages installed, `python -m runs check {0} --seconds 60` in the unzipped "
    "folder computes five random cells again and compares their numbers."
)


def write_crate(run: str, out: Path) -> None:
    """Write the crate of a run to a zip file; the same commit and results give the same bytes.

    Raises:
        ConfigError: There is no such run, or no commit has what is in the tree.
    """
    tables_of(run)
    if _git("status", "--porcelain"):
        raise ConfigError("a crate names its commit, and the tree has changes: commit them first")
    with tempfile.TemporaryDirectory() as folder:
        tree, archive = Path(folder, "tree"), Path(folder, "code.tar")
        _git("archive", "--output", str(archive), "HEAD", ".", f":(exclude){RESULTS}/*/**")
        shutil.unpack_archive(archive, tree, filter="data")
        shutil.copytree(RESULTS / run, tree / RESULTS / run, ignore=_LEFT_OUT)
        (tree / "ro-crate-metadata.json").write_text(
            json.dumps(
                {"@context": [f"{_CRATE}/context", _TERMS], "@graph": _graph(run, tree)}, indent=1
            )
        )
        packed = Path(folder, "crate.zip")
        write_zip(tree, packed)
        shutil.copyfile(packed, out)


def _git(*words: str) -> str:
    ended = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ConfigError(f"a crate names its commit, and git says: {ended.stderr.strip()}")
    return ended.stdout.strip()


def _graph(run: str, tree: Path) -> list[dict]:
    """The entities of the crate of a folder that has the code and the results of one run."""
    cited, config = read_yaml(tree / "CITATION.cff"), read_config(tree / f"config/{run}.yaml")
    commit, date = _git("log", "-1", "--format=%H %cI").split()
    licence = f"https://spdx.org/licenses/{cited['license']}"
    workflow = _file(tree, tree / "Snakefile") | {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": cited["title"],
        "version": commit,
        "programmingLanguage": {"@id": f"{_WORKFLOW}#snakemake"},
    }
    given = [_file(tree, tree / name) for name in (f"config/{run}.yaml", "envs/requirements.txt")]
    names = {name for cell in cells_of(config) for name in cell.downloads(config)}
    given += [file for name in sorted(names) for file in _inputs(DATASETS[name])]
    results = [
        _file(tree, path) for path in sorted((tree / RESULTS / run).rglob("*")) if path.is_file()
    ]
    code = [
        {"@id": f"{path.name}/", "@type": "Dataset", "name": f"{path.name} of the suite"}
        if path.is_dir()
        else _file(tree, path)
        for path in sorted(tree.iterdir())
        if path.name != workflow["@id"]
    ]
    authors = [
        {"@id": f"#author-{number}", "@type": "Organization", **author}
        for number, author in enumerate(cited["authors"])
    ]
    parts = [workflow, *given, *results, *code]
    return [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": [{"@id": _CRATE}, {"@id": f"{_WORKFLOW}/1.0"}],
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"The run {run} of {cited['title']}",
            "description": _DESCRIPTION.format(run),
            "datePublished": date,
            "license": {"@id": licence},
            "author": _ids(authors),
            "conformsTo": [{"@id": uri} for uri in _PROFILES],
            "mainEntity": {"@id": workflow["@id"]},
            "mentions": {"@id": "#run"},
            "hasPart": _ids(parts),
        },
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": f"The run {run}",
            "description": _computed_with(read_starts(tree / RESULTS / run)),
            "instrument": {"@id": workflow["@id"]},
            "object": _ids(given),
            "result": _ids(results),
        },
        {"@id": licence, "@type": "CreativeWork", "name": cited["license"]},
        {
            "@id": f"{_WORKFLOW}#snakemake",
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "identifier": "https://doi.org/10.1093/bioinformatics/bts480",
            "url": "https://snakemake.readthedocs.io",
        },
        *(
            {"@id": uri, "@type": "CreativeWork", "name": name, "version": uri[-3:]}
            for uri, name in _PROFILES.items()
        ),
        *authors,
        *parts,
    ]


def _computed_with(starts: list[dict | None]) -> str:
    """What the rows come from, in words: the code of the crate may be that of a later commit."""
    told = [
        f"commit {start['commit'] or 'not known'}, Python {start['python']}"
        if start
        else "not recorded"
        for start in starts
    ]
    where = f"; its packages are in {RECORD}" * any(starts)
    return f"Code and Python at its starts: {', then '.join(told)}{where}."


def _ids(entities: list[dict]) -> list[dict]:
    return [{"@id": each["@id"]} for each in entities]


def _file(tree: Path, path: Path) -> dict:
    return {
        "@id": quote(path.relative_to(tree).as_posix()),
        "@type": "File",
        "name": path.name,
        "contentSize": path.stat().st_size,
        "sha256": file_hash(str(path)),
    }


def _inputs(entry: Dataset) -> list[dict]:
    """The files of a data set, which the crate names and does not hold."""
    return [
        {
            "@id": file.urls[0] if file.urls else f"{entry.archive.urls[0]}#{file.name}",
            "@type": "File",
            "name": f"{entry.title}: {file.name}",
            "license": entry.licence,
            "contentSize": file.bytes,
            "sha256": file.sha256,
        }
        for file in entry.files
    ]
