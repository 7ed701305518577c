"""Messages about the config of a command line before Snakemake starts."""

import subprocess
import sys
from pathlib import Path

import pytest

from runs.given_config import check_configs, config_paths

ROOT = Path(__file__).parents[2]


def test_the_configs_of_a_command_line():
    assert list(
        config_paths(["snakemake", "-n", "fig", "--configfile", "a.yaml", "b.yaml", "-n"])
    ) == [
        "a.yaml",
        "b.yaml",
    ]
    assert config_paths(["snakemake", "--configfiles=a.yaml", "target"]) == ["a.yaml"]
    assert config_paths(["snakemake", "--config", "run=a.yaml"]) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read given.yaml: No such file or directory; name a YAML file that exists"),
        ("run: [", "bad YAML: while parsing a flow node expected the node content, but found"),
        ("- a", "given.yaml must hold the keys of a config, see config/README.md"),
    ],
)
def test_a_config_that_cannot_be_read_is_told_in_one_line(text, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("given.yaml").write_text(text)
    with pytest.raises(SystemExit) as ended:
        check_configs(["snakemake", "--configfile", "given.yaml"])
    assert str(ended.value).startswith(f"error: {words}") and "\n" not in str(ended.value)


def test_a_target_after_the_config_is_no_config(tmp_path):
    config = str(ROOT / "config/tiny.yaml")
    with pytest.raises(SystemExit, match="figures was read as a config; write targets before"):
        check_configs(["snakemake", "--configfile", config, "figures"])


def test_the_first_line_names_the_config_once_in_a_run(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    check_configs(["snakemake"])
    assert capsys.readouterr().err == "reading config/quick.yaml and what it needs: some seconds\n"
    check_configs(["snakemake", "--mode", "subprocess"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("profile", ["default", "slurm"])
def test_snakemake_ends_in_one_line_with_either_profile(profile):
    command = [
        Path(sys.executable).parent / "snakemake",
        "--configfile",
        "nosuch.yaml",
        "--profile",
    ]
    ended = subprocess.run(
        [*command, f"profiles/{profile}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("error: cannot read nosuch.yaml: ")
    assert "Traceback" not in ended.stderr
