"""The code of the guides runs in every folder, in an environment like that built by `make`."""

import re
import shlex
import site
import subprocess
import venv
from pathlib import Path

import pytest
from test_distribution import ROOT, copy, sources_in

pytestmark = pytest.mark.slow
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(page: Path) -> str:
    """All Python blocks of a page as one program."""
    return "".join(re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.M | re.S))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The scripts of a checkout whose `make` installed the package; other packages are shared."""
    sources = sources_in(tmp_path_factory.mktemp("checkout"))
    copy(ROOT / "Makefile", sources / "Makefile")
    (sources / "envs").mkdir()
    (sources / "envs/requirements.txt").touch()
    venv.create(sources / ".venv", with_pip=False)
    (packages,) = (sources / ".venv/lib").glob("*/site-packages")
    (packages / "shared.pth").write_text("\n".join(site.getsitepackages()))
    # The only command of `make` that installs the package; the others install its dependencies.
    shown = subprocess.run(
        ["make", "--dry-run", "--always-make", ".venv/ready"],
        cwd=sources,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.replace("\\\n", " ")
    (command,) = (line for line in shown.splitlines() if "--editable" in line)
    subprocess.run(shlex.split(command), cwd=sources, check=True)
    return sources / ".venv/bin"


def output_of(command, folder):
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda p: p.stem)
def test_the_python_of_a_page_runs_in_an_empty_folder(environment, page, tmp_path):
    (tmp_path / "page.py").write_text(snippets(page))
    output_of([environment / "python", "page.py"], tmp_path)


def test_a_checkout_runs_its_own_code_in_the_environment_of_another(environment, tmp_path):
    """Clones may share one environment, because the folder in which Python runs comes first."""
    ask = "import mechanisms; print(mechanisms.__file__)"
    shown = output_of([environment / "python", "-c", ask], ROOT)
    assert shown == f"{ROOT}/mechanisms/__init__.py\n"
    assert str(ROOT) not in output_of([environment / "python", "-c", ask], tmp_path)
