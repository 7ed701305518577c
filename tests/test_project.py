"""The project's own files agree with each other."""

import json
import math
import re
import sys
import tomllib
from pathlib import Path

import pandas as pd
import yaml

from site_builder.readme import generated_blocks, generated_pages, replace_block

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


def test_every_requirement_is_pinned():
    pinned = {re.split(r"==", line)[0] for line in pin.pins(requirements())}
    wanted = re.findall(
        r"^([a-z0-9-]+)", (ROOT / "envs" / "requirements.in").read_text(), flags=re.MULTILINE
    )
    assert len(wanted) > 15
    assert set(wanted) <= pinned


def test_generated_pages_are_up_to_date():
    for file, text in generated_pages().items():
        message = f"{file} is out of date; run python -m site_builder.readme"
        assert (ROOT / file).read_text() == text, message


def test_generated_parts_of_the_readmes_are_up_to_date():
    for (file, name), block in generated_blocks().items():
        text = (ROOT / file).read_text()
        message = f"{file}, block {name} is out of date; run python -m site_builder.readme"
        assert replace_block(text, name, block) == text, message


def test_a_release_has_one_version_and_one_date():
    """The changelog's first section, the package and the citation files of archives agree."""
    heading = re.search(r"^## ([\d.]+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    version, date = heading.groups()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["version"], str(cited["date-released"])) == (version, date)
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == version
    for name in ("codemeta.json", ".zenodo.json"):
        assert json.loads((ROOT / name).read_text())["version"] == version


def test_the_counts_in_the_readme_match_the_ledger():
    """By paper: all claims, confirmed, confirmed in part, contradicted, and all others."""
    rows = re.findall(r"^\| (\w+\d{4}) \|([\d |]+)\|$", (ROOT / "README.md").read_text(), re.M)
    verdicts = pd.read_csv(ROOT / "results/reference/claims.csv").groupby("paper")["verdict"]
    assert len(rows) == 5
    for paper, numbers in rows:
        found = verdicts.get_group(paper).value_counts()
        named = [found.get(verdict, 0) for verdict in ("confirmed", "partly", "contradicted")]
        counts = [found.sum(), *named, found.sum() - sum(named)]
        assert [int(number) for number in numbers.split("|")] == counts, paper


def test_the_numbers_in_the_readme_match_the_rows():
    """The table of findings has the same numbers."""
    text = " ".join((ROOT / "README.md").read_text().split())
    ledger = pd.read_csv(ROOT / "results/reference/claims.csv").set_index("claim")
    papers = ledger[ledger["paper"].isin(re.findall(r"\| (\w+\d{4}) \|", text))]
    confirmed = papers[papers["verdict"] == "confirmed"]
    mine = (confirmed["paper"] == "r1smg2024").sum()
    said = (
        f"{len(confirmed)} of these {len(papers)} claims are confirmed, {mine} of them of r1smg2024"
    )
    assert said in text
    for example in re.findall(r"claims.md#([\w-]+)", text.split("Much reproduces")[1])[:3]:
        assert ledger.loc[example, "verdict"] == "confirmed", example
    for claim, number in (("r1-thm5", "0.2166"), ("tldp-thm1", "0.999999")):
        assert number in ledger.loc[claim, "we find"] and number in text
    assert "0.0013" in ledger.loc["mvg-useful-regression", "we find"] and "0.0013" in text
    table = pd.read_csv(ROOT / "results/reference/tables/suite_verdicts.csv")
    table = table.set_index(["mechanism", "setting"])["variance over need"]
    # The stated sensitivity of the second study of mvg2018 doubles its variance.
    least = {key: table[key, "mvg2018-component"] / 2 for key in ("mvg", "mvg-sqrt")}
    assert f"at least {math.floor(least['mvg-sqrt'] / 1e5) / 10} million times" in text
    layers = table["idn"][table["idn"].index.str.startswith("mgm2021")]
    ends = f"{math.floor(layers.min())} to {layers.max() / 1e5:.1f} x 10^5 times"
    adult = math.floor(table["udn", "mgm2021-adult"] / 100) * 100
    assert f"IDN {ends}, and UDN, which is used on Adult only, {adult:,} times" in text
    more = (ROOT / "docs/what_we_found.md").read_text()
    for found in least.values():
        assert f"| {found:.1e}".replace("e+0", "e") in more


def test_actions_are_pinned_by_their_contents():
    """The tag of an action can be moved to other code; its commit cannot."""
    used = [
        line.split("uses:")[1].strip()
        for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert len(used) > 5
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action
