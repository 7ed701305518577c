"""The installed package: a wheel of `mechanisms` alone, with few dependencies and fast imports."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path

import pytest

import mechanisms

ROOT = Path(__file__).resolve().parents[1]
CONFIGURED = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = CONFIGURED["project"]
# The top-level packages in the wheel.
SHIPPED = {
    pattern.rstrip("*")
    for pattern in CONFIGURED["tool"]["setuptools"]["packages"]["find"]["include"]
}
# The limit on CPU seconds of `import mechanisms`.
LONGEST_IMPORT = 0.5
# The dependencies that the package may have; everything else is blocked below.
NEEDED = ("numpy", "scipy", "mpmath")

# A program that blocks every other installed package and then runs `code`.
ISOLATED = """
import importlib.metadata, resource, sys

blocked = set(importlib.metadata.packages_distributions()) - set({needed!r}) - {{"mechanisms"}}
blocked -= set(sys.stdlib_module_names) | {{"__pycache__", ".."}}


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)


sys.meta_path.insert(0, Blocked())
assert "pandas" in blocked and "torch" in blocked
{code}
"""


def sources_in(folder: Path) -> Path:
    """Copy the sources of a wheel, because building writes into their folder."""
    sources = folder / "sources"
    sources.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", *SHIPPED, "learning"):
        copy(ROOT / name, sources / name)
    return sources


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the unpacked wheel of a copy of the sources, as pip installs it."""
    folder = tmp_path_factory.mktemp("distribution")
    sources = sources_in(folder)
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    command = [sys.executable, "-m", "pip", *build, "--wheel-dir", str(folder), str(sources)]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def copy(source: Path, target: Path) -> None:
    """Copy one file, or a folder without compiled Python; rights and times are new."""
    if source.is_file():
        shutil.copyfile(source, target)
    else:
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, ignore=compiled, copy_function=shutil.copyfile)


def isolated(folder: Path, code: str) -> str:
    """Run `code` where only `folder` and its dependencies can be imported; return its output."""
    program = ISOLATED.format(needed=NEEDED, code=textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_contains_mechanisms_and_not_the_suite(installed):
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert "mechanisms" in tops
    assert tops == SHIPPED
    sources = {path.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("*.py")}
    assert {path.relative_to(installed) for path in installed.rglob("*.py")} == sources


def test_a_wheel_built_again_has_the_same_bytes(tmp_path):
    """It is built at another time, by another user, after an earlier build and a change."""
    sources = sources_in(tmp_path)
    copy(ROOT / "Makefile", sources / "Makefile")
    copy(ROOT / ".gitignore", sources / ".gitignore")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        subprocess.run([*git, *words], cwd=sources, check=True)
    make = ["make", "--silent", "wheel", f"BIN={Path(sys.executable).parent}", "READY="]
    built = []
    for umask, moment in ((0o022, 1e9), (0o077, 1.7e9)):
        for path in (path for path in sources.rglob("*") if path.is_file()):
            path.chmod(0o666 & ~umask)
            os.utime(path, (moment, moment))
        subprocess.run(make, cwd=sources, umask=umask, check=True, capture_output=True)
        (wheel,) = (sources / "dist").iterdir()
        built.append(wheel.read_bytes())
        (sources / "build/wheel/mechanisms/removed.py").write_text("")
        (sources / "mechanisms/added.py").write_text("")
    assert built[0] == built[1]


def test_a_site_packed_again_has_the_same_bytes(tmp_path):
    copy(ROOT / "Makefile", tmp_path / "Makefile")
    packed = []
    for names, rights, moment in (("ab", 0o644, 1e9), ("ba", 0o600, 1.7e9), ("abc", 0o644, 1e9)):
        shutil.rmtree(tmp_path / "dist", ignore_errors=True)
        for name in names:
            path = tmp_path / "dist/packed/site" / name / "page.html"
            path.parent.mkdir(parents=True)
            path.write_text(name)
            path.chmod(rights)
            os.utime(path, (moment, moment))
        subprocess.run(["make", "--silent", "dist/site.tar.gz"], cwd=tmp_path, check=True)
        packed.append((tmp_path / "dist/site.tar.gz").read_bytes())
    assert packed[0] == packed[1] != packed[2]


def test_the_wheel_has_a_console_script(installed):
    (script,) = installed.glob("*.dist-info/entry_points.txt")
    assert "matrix-noise = mechanisms.__main__:command" in script.read_text()


@pytest.mark.slow
def test_an_installed_package_calibrates_draws_and_verifies(installed):
    code = """
    import mechanisms
    from mechanisms import Budget, Query, all_mechanisms, get_mechanism, verify
    import numpy as np
    query = Query(shape=(120, 400), l2_sensitivity=1.0)
    chosen = get_mechanism("gaussian-analytic").calibrate(query, Budget(epsilon=1, delta=1e-5))
    released = chosen.release(np.zeros((120, 400)), np.random.default_rng(0))
    print(mechanisms.__file__, len(all_mechanisms()), released.shape)
    print(round(chosen.parameters()["sigma"], 4), verify(chosen).verdict)
    from mechanisms.__main__ import main
    main(["describe", "r1smg"])
    main("calibrate laplace --shape 3 --l2-sensitivity 1 --l1-sensitivity 1 --epsilon 1".split())
    """
    first, second, *calibrated = isolated(installed, code).splitlines()
    assert first.startswith(str(installed))
    assert first.endswith("(120, 400)")
    assert int(first.split()[1]) > 30
    assert second == "3.7306 holds"
    (told,) = (line for line in calibrated if line.startswith("verdict "))
    assert told.split(maxsplit=1)[1].startswith("refuted at 4 of 4 settings of the papers in ")
    assert ["mechanism", "laplace"] in [line.split() for line in calibrated]
    for name in ("py.typed", "__init__.pyi"):
        assert (installed / "mechanisms" / name).exists()


def test_type_checkers_and_completion_see_what_is_imported_on_first_use():
    """The stub file imports every name from the module that defines it."""
    stub = ast.parse((ROOT / "mechanisms/__init__.pyi").read_text())
    seen = {name.asname: node.module for node in stub.body for name in node.names}
    assert seen == mechanisms._HOMES
    assert set(seen) == set(mechanisms.__all__) <= set(dir(mechanisms))
    for name, home in seen.items():
        assert getattr(importlib.import_module(home), name) is getattr(mechanisms, name)


def test_importing_is_quick_and_loads_nothing_of_the_suite(installed):
    code = """
    before = resource.getrusage(resource.RUSAGE_SELF)
    import mechanisms
    from mechanisms import Budget, Query
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    import mechanisms.__main__, sys
    print(sorted({name.partition(".")[0] for name in sys.modules} & {"pandas", "learning", "runs"}))
    # Half of a command's start, unless they wait for the first use.
    print(sorted({"scipy.linalg", "scipy.sparse", "scipy.special"} & set(sys.modules)))
    """
    seconds, *loaded = isolated(installed, code).splitlines()
    assert float(seconds) <= LONGEST_IMPORT
    assert loaded == ["[]", "[]"]


def test_a_missing_package_is_named_with_its_extra(installed):
    code = """
    from mechanisms.__main__ import main
    asked = "--shape 3 --l2-sensitivity 1 --epsilon 1 --delta 1e-5".split()
    sampled = "--option rate=0.01 --option steps=10".split()
    for command in (
        ["compare", *asked],
        ["verify", "moments-accountant", *asked, *sampled],
    ):
        sys.stderr = sys.stdout
        print(main(command))
    """
    lines = isolated(installed, code).splitlines()
    told = [line for line in lines if line != "2"]
    assert told == [
        f"error: {command} needs the package {package}: in a clone, pip install '.[{extra}]'"
        for command, package, extra in (
            ("compare", "pandas", "compare"),
            ("verify", "dp_accounting", "accounting"),
        )
    ]
    assert len(lines) == 2 * len(told)


def test_the_command_calls_itself_by_its_own_name(installed):
    code = """
    from mechanisms.__main__ import command
    sys.argv = ["matrix-noise", "--help"]
    command()
    """
    assert isolated(installed, code).startswith("usage: matrix-noise ")


def test_ranges_contain_the_pins():
    """The lower bound of every dependency is at most the tested version."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    pins = dict(
        re.findall(
            r"^([a-z0-9-]+)==([^ \\;]+)",
            (ROOT / "envs" / "requirements.txt").read_text(),
            flags=re.MULTILINE,
        )
    )
    extras = PROJECT["optional-dependencies"]
    wanted = [
        Requirement(text) for texts in (PROJECT["dependencies"], *extras.values()) for text in texts
    ]
    for requirement in wanted:
        if requirement.name in pins:
            assert Version(pins[requirement.name]) in requirement.specifier, requirement
    assert {requirement.name for requirement in map(Requirement, PROJECT["dependencies"])} == set(
        NEEDED
    )
