"""The project's own files agree with each other."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from runs.config import read_config
from site_builder.readme import generated_blocks, generated_pages, replaced

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "envs"))

import pin  # noqa: E402


def requirements():
    return (ROOT / "envs" / "requirements.txt").read_text()


def test_conda_carries_the_same_pins():
    environment = yaml.safe_load((ROOT / "envs" / "environment.yaml").read_text())
    by_pip = next(item["pip"] for item in environment["dependencies"] if isinstance(item, dict))
    assert by_pip == pin.pins(requirements())
    assert len(by_pip) > 50


def test_every_pin_has_a_hash_and_no_address():
    text = requirements()
    blocks = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text
    assert "--index-url" not in text


def test_what_is_asked_for_is_pinned():
    pinned = {re.split(r"==", line)[0] for line in pin.pins(requirements())}
    wanted = re.findall(
        r"^([a-z0-9-]+)", (ROOT / "envs" / "requirements.in").read_text(), flags=re.MULTILINE
    )
    assert len(wanted) > 15
    assert set(wanted) <= pinned


@pytest.mark.parametrize("name", ["tiny", "quick", "reference", "paper"])
def test_every_config_is_accepted(name):
    config = read_config(ROOT / "config" / f"{name}.yaml")
    assert config["run"] == name


def test_generated_pages_are_up_to_date():
    for file, text in generated_pages().items():
        message = f"{file} is out of date; run python -m site_builder.readme"
        assert (ROOT / file).read_text() == text, message


def test_generated_parts_of_the_readmes_are_up_to_date():
    for (file, name), block in generated_blocks().items():
        text = (ROOT / file).read_text()
        message = f"{file}, block {name} is out of date; run python -m site_builder.readme"
        assert replaced(text, name, block) == text, message


def test_every_file_that_the_readme_links_to_exists():
    text = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_actions_are_pinned_by_their_contents():
    """A tag of an action may be moved to other code; its commit may not."""
    used = [
        line.split("uses:")[1].strip()
        for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert len(used) > 5
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action
