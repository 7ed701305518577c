"""What a newcomer asks first: is anything missing?"""

from types import SimpleNamespace

from runs.__main__ import main
from runs.doctor import findings


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


def test_a_full_disk_is_a_need(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("runs.doctor.shutil.disk_usage", lambda path: SimpleNamespace(free=1.4e9))
    assert main(["doctor", "--folder", str(tmp_path)]) == 1
    assert "MISS disk         1 GB free" in capsys.readouterr().out
