"""What a newcomer asks first: is anything missing, and where do I begin?"""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from claims.claim import all_claims
from claims.judges import all_judges
from claims.verdicts import NOT_RUN
from mechanisms.__main__ import main as mechanisms_main
from mechanisms.cli import new_command
from runs.__main__ import main
from runs.doctor import findings

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_missing_is_named_with_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path / "nowhere"))
    monkeypatch.setattr("runs.doctor.shutil.which", lambda name: None)
    assert main(["doctor", "--folder", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "ok   packages     all " in shown
    assert "none is left out" in shown
    assert "0 of 16 official data sets" in shown and "python -m datasets fetch adult" in shown
    assert "nowhere is no folder\n                  correct DATA_MIRROR" in shown
    assert "-    Slurm        none" in shown and "-    browser      none" in shown


def test_a_missing_package_is_told(tmp_path, monkeypatch):
    pins = tmp_path / "requirements.txt"
    pins.write_text("no-such-package==1.0 \\\nnumpy==0.1 ; python_full_version < '3.12' \\\n")
    monkeypatch.setattr("runs.doctor.REQUIREMENTS", pins)
    (packages,) = [each for each in findings(tmp_path) if each.name == "packages"]
    assert packages.state.startswith("2 of 2 are missing or have other versions: no-such-package")
    assert packages.needed and "make lint" in packages.to_do


@pytest.mark.parametrize("kind", new_command.KINDS)
def test_a_new_file_has_its_own_name(kind, tmp_path, monkeypatch, capsys):
    template, folder, words = new_command.KINDS[kind]
    (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(ROOT / "extend", tmp_path / "extend")
    monkeypatch.setattr(new_command, "ROOT", tmp_path)
    monkeypatch.setattr(new_command, "TEMPLATES", tmp_path / "extend")
    assert mechanisms_main(["new", kind, "zig_zag"]) == 0
    assert f"{folder}/zig_zag.py, from extend/{template}: edit it" in capsys.readouterr().out
    text = (tmp_path / folder / "zig_zag.py").read_text()
    compile(text, "zig_zag.py", "exec")
    assert "class ZigZag(" in text or "class ZigZag:" in text
    assert not any(f'"{word}"' in text for word in words if word)
    assert mechanisms_main(["new", kind, "zig_zag"]) == 2
    assert "exists already: choose another name" in capsys.readouterr().err


def test_a_taken_key_is_refused(capsys):
    for taken in ("laplace", "gram"):
        assert mechanisms_main(["new", "mechanism", taken]) == 2
        assert "already: choose another name" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        mechanisms_main(["new", "mechanism", "import"])


def test_a_new_claim_can_be_pasted_as_it_is_printed(tmp_path, monkeypatch, capsys):
    assert mechanisms_main(["new", "claim", "r1smg2024"]) == 0
    entry = capsys.readouterr().out
    assert "put this entry into paper_figures/r1smg2024/claims.yaml" in entry
    path = tmp_path / "paper_figures/r1smg2024/claims.yaml"
    path.parent.mkdir(parents=True)
    before = (ROOT / "paper_figures/r1smg2024/claims.yaml").read_text()
    path.write_text(f"{before}\n{entry}")
    monkeypatch.setattr("claims.claim.HOMES", tmp_path / "paper_figures")
    claim = all_claims()[-1]
    assert (claim.id, claim.paper) == ("r1smg2024-claim", "r1smg2024")
    assert all_judges()[claim.rule].decide(None, claim.arguments).verdict == NOT_RUN
    assert mechanisms_main(["new", "claim", "r1smg"]) == 2
    assert "no paper 'r1smg' has claims; choose one of bandmf2023, " in capsys.readouterr().err


@pytest.mark.parametrize("made", [(), ("__init__.py",)])
def test_the_first_claim_of_a_paper_makes_its_home(made, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(new_command, "ROOT", tmp_path)
    home = tmp_path / "paper_figures/mypaper2026"
    home.parent.mkdir()
    for name in made:
        home.mkdir()
        (home / name).write_text("# mine\n")
    assert mechanisms_main(["new", "claim", "mypaper2026"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0].split(",")[0] for line in shown] == [
        "paper_figures/mypaper2026/claims.yaml",
        "paper_figures/mypaper2026/__init__.py",
        "CITATION.cff",
        "python -m paper_figures judge reference",
    ]
    monkeypatch.setattr("claims.claim.HOMES", tmp_path / "paper_figures")
    assert [claim.id for claim in all_claims()] == ["mypaper2026-claim"]
    init = (home / "__init__.py").read_text()
    assert init == "# mine\n" if made else 'NAME = "mypaper2026"' in init


def test_a_full_disk_is_a_need(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("runs.doctor.shutil.disk_usage", lambda path: SimpleNamespace(free=1.4e9))
    assert main(["doctor", "--folder", str(tmp_path)]) == 1
    assert "MISS disk         1 GB free" in capsys.readouterr().out
