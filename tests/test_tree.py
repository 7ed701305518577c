"""The tree keeps its rules: names, sizes, docstrings, and which package may import which.

`MAY_IMPORT` of import_directions.py says for each package which others it may import; what is not
allowed there is reported with its file and line.
"""

import ast
import graphlib
import re
from collections import defaultdict
from pathlib import Path

import pytest
from import_directions import MAY_IMPORT

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "mechanisms",
    "datasets",
    "papers",
    "learning",
    "experiments",
    "runs",
    "paper_figures",
    "site_builder",
)
# A study has two homes of one name: experiments/<study>.py and paper_figures/<paper>/<study>.py.
# Judges of closed forms, which belong to no study, are in every paper's `theorems.py`.
SHARED_NAMES = {"__init__", "__main__", "conftest", "theorems"}
LARGEST_FOLDER, LONGEST_MODULE = 25, 350
# In the docstring of a package: "imported by x", "x may import it"; "it may import y".
SENTENCE = re.compile(r"[.](?=\s|$)")
ITSELF = r"(?:it|them|this|these)\b"
IMPORTED = re.compile(rf"\bimported by\b|\bimports? {ITSELF}", re.IGNORECASE)
IMPORTS = re.compile(rf"\bimports? (?!{ITSELF})\S", re.IGNORECASE)
# Longer modules, each with the reason why it is not split.
LONG_MODULES: dict[str, str] = {}

# (file, imported module): why this import against the directions is right.
EXCEPTIONS = {
    ("experiments/contract/study.py", "experiments"): "lists the folder to find the studies",
}


def modules(*tops: str) -> list[Path]:
    """Every module below the folders, relative to the root."""
    return sorted(path.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("*.py"))


def dotted(path: Path) -> str:
    """The module's name for an import statement."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def entry_of(module: str) -> str:
    """The most specific entry of MAY_IMPORT that speaks for a module."""
    return max((each for each in MAY_IMPORT if is_below(module, each)), key=len)


def is_below(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def is_allowed(importer: str, imported: str) -> bool:
    source, target = entry_of(importer), entry_of(imported)
    if source == target:
        return True
    return any(
        is_below(target, allowed[:-2]) if allowed.endswith(".*") else target == allowed
        for allowed in MAY_IMPORT[source]
    )


def project_imports(path: Path, known: set[str]) -> list[tuple[int, str]]:
    """(line, module) of every import of the project's own modules, also inside functions."""
    found = []
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: write the module's full name"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.append((node.lineno, name if name in known else node.module))
    return [(line, name) for line, name in found if name.split(".")[0] in PACKAGES]


def test_every_import_follows_the_directions():
    paths = modules(*PACKAGES)
    known = {dotted(path) for path in paths}
    wrong, unused = [], dict(EXCEPTIONS)
    for path in paths:
        for line, imported in project_imports(path, known):
            if is_allowed(dotted(path), imported):
                continue
            if (str(path), imported) in EXCEPTIONS:
                unused.pop((str(path), imported), None)
                continue
            wrong.append(f"{path}:{line} imports {imported}, above {entry_of(dotted(path))}")
    assert not wrong, "\n".join(wrong)
    assert not unused, f"exceptions that nothing needs: {unused}"


def test_the_room_of_a_paper_imports_that_of_no_other():
    """But for the suite's own, which has the judge of all papers' privacy claims."""
    wrong = []
    known = {dotted(path) for path in modules(*PACKAGES)}
    for path in modules("paper_figures"):
        for line, imported in project_imports(path, known):
            package = imported.split(".")[1:2]
            claims = ROOT.joinpath("paper_figures", *package, "claims.yaml")
            of_paper = bool(package) and claims.exists()
            if imported.startswith("paper_figures.") and of_paper and package[0] != path.parts[1]:
                wrong.append(f"{path}:{line} imports {imported}")
    assert not wrong, "\n".join(wrong)


def test_the_directions_have_no_cycle():
    below = {
        entry: {
            other
            for other in MAY_IMPORT
            for allowed in allowances
            if other != entry
            and (is_below(other, allowed[:-2]) if allowed.endswith(".*") else other == allowed)
        }
        for entry, allowances in MAY_IMPORT.items()
    }
    order = list(graphlib.TopologicalSorter(below).static_order())
    assert set(order) == set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("mechanisms.gaussian", "mechanisms.noise.gaussian_noise", True),
        ("mechanisms.noise.gaussian_noise", "mechanisms.gaussian", False),
        ("mechanisms.noise.gaussian_noise", "mechanisms.contract.query", True),
        ("mechanisms.noise.gaussian_noise", "mechanisms.contract.mechanism", False),
        ("mechanisms.profiles.profile", "mechanisms.contract.query", False),
        ("learning.training.step_noise", "experiments.contract.study", True),
        ("learning.training.step_noise", "experiments.dpsgd", False),
        ("learning.training.step_noise", "learning.releases.joint_calibration", True),
        ("learning.releases.joint_calibration", "learning.training.step_noise", False),
        ("datasets.loaders.mnist", "datasets.fetching.checksums", True),
        ("datasets.loaders.mnist", "datasets.fetching.fetch", False),
        ("paper_figures.tvg2021.theorems", "paper_figures.rules", True),
        ("paper_figures.tvg2021.theorems", "paper_figures.suite.guarantee", False),
        ("runs.cells", "experiments.count_query", False),
        ("paper_figures.suite.headline", "mechanisms.audit.verification", True),
        ("site_builder.charts", "paper_figures.style", True),
        ("paper_figures.style", "site_builder.charts", False),
    ],
)
def test_the_table_reads_as_meant(importer, imported, allowed):
    assert is_allowed(importer, imported) == allowed


def test_every_module_has_a_name_of_its_own():
    studies = {path.stem for path in (ROOT / "experiments").glob("*.py")}
    homes = defaultdict(list)
    for path in modules(*PACKAGES, "workflow", "tests", "envs"):
        homes[path.stem].append(path)
    clashes = [
        f"{name}: {', '.join(map(str, paths))}"
        for name, paths in homes.items()
        if len(paths) > 1
        and name not in SHARED_NAMES
        and not (name in studies and all(may_hold_a_study(path) for path in paths))
    ]
    assert not clashes, "\n".join(clashes)


def may_hold_a_study(path: Path) -> bool:
    """experiments/<study>.py or paper_figures/<paper>/<study>.py."""
    return (path.parts[0], len(path.parts)) in {("experiments", 2), ("paper_figures", 3)}


def test_no_module_is_private():
    private = [
        str(path)
        for path in modules(*PACKAGES, "tests")
        if path.stem.startswith("_") and path.stem not in SHARED_NAMES
    ]
    assert not private, private


def test_every_package_says_what_lives_in_it():
    """What lives there, what may import it and what it imports: three sentences."""
    silent = []
    for folder in sorted({path.parent for path in modules(*PACKAGES)}):
        init = ROOT / folder / "__init__.py"
        text = ast.get_docstring(ast.parse(init.read_text())) if init.exists() else None
        said = " ".join((text or "").split())
        missing = [
            what
            for what, there in (
                (
                    "what it is, what may import it, what it imports",
                    len(SENTENCE.findall(said)) > 2,
                ),
                ("what may import it: 'imported by', 'import it'", IMPORTED.search(said)),
                ("what it imports: 'it imports', 'it may import'", IMPORTS.search(said)),
            )
            if not there
        ]
        silent += [f"{folder}/__init__.py lacks {what}" for what in missing]
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize(
    ("said", "importers", "imports"),
    [
        ("Imported by discovery alone. It imports nothing.", True, True),
        ("Nothing imports it. They may import every other package.", True, True),
        ("All other packages may import this one; it imports none of them.", True, True),
        ("Everything may import it.", True, False),
        ("May import papers.", False, True),
        ("Nothing is said: no, nothing. It is silent.", False, False),
    ],
)
def test_the_two_directions_are_told_apart(said, importers, imports):
    assert (bool(IMPORTED.search(said)), bool(IMPORTS.search(said))) == (importers, imports)


def test_no_folder_is_crowded():
    counts = defaultdict(int)
    for path in modules(*PACKAGES):
        counts[path.parent] += path.stem != "__init__"
    crowded = {str(folder): n for folder, n in counts.items() if n > LARGEST_FOLDER}
    assert not crowded, crowded


def test_long_modules_have_a_reason():
    lengths = {
        str(path): len((ROOT / path).read_text().splitlines()) for path in modules(*PACKAGES)
    }
    long = {path for path, length in lengths.items() if length > LONGEST_MODULE}
    assert long <= set(LONG_MODULES), {path: lengths[path] for path in long - set(LONG_MODULES)}
    assert set(LONG_MODULES) <= long, "modules that are listed as long but are not"
