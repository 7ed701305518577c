"""What several pages share: the run, what can be said of it, and where things are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from experiments.contract.study import Experiment, all_experiments, files_of
from mechanisms import Mechanism, all_mechanisms
from paper_figures.style import CALIBRATION_TITLES, mechanism_title
from site_builder.families import FAMILIES, Family
from site_builder.leaderboards import View, views_of
from site_builder.provenance import Provenance, provenance_of
from site_builder.run_folder import RunFolder

CITATION = Path("CITATION.cff")
# Key of what belongs to no paper, and its name for readers.
SUITE = "suite"


@dataclass(frozen=True)
class Page:
    """One page.

    Args:
        path: Below the site's folder.
        template: File in templates/.
        title: Of the document.
        section: Path of the entry of the navigation that it belongs to.
        about: One sentence for search engines and link previews.
        content: What the template shows.
    """

    path: str
    template: str
    title: str
    section: str
    about: str
    content: dict[str, Any]

    @property
    def root(self) -> str:
        """The way from the page to the site's folder."""
        return "../" * self.path.count("/")


@dataclass(frozen=True)
class PaperFacts:
    """A paper by its key, as CITATION.cff cites it.

    Args:
        key: Name and year.
        name: Short name: the noise that it proposes.
        title, authors, venue, year: Of the publication.
    """

    key: str
    name: str
    title: str
    authors: str
    venue: str
    year: int


NAMES = {
    "mvg2018": "MVG",
    "mgm2021": "MGM, UDN and IDN",
    "imgm2022": "IMGM",
    "r1smg2024": "R1SMG",
    "tldp2025": "TLDP",
}


@dataclass(frozen=True)
class SiteData:
    """A run and what is known around it."""

    run: RunFolder

    @cached_property
    def provenance(self) -> Provenance:
        """How to make the run again."""
        return provenance_of(self.run.name)

    @cached_property
    def mechanisms(self) -> dict[str, type[Mechanism]]:
        """The registry."""
        return dict(all_mechanisms())

    @cached_property
    def studies(self) -> dict[str, Experiment]:
        """The studies of the run by name."""
        known = all_experiments()
        return {name: known[name] for name in self.run.studies if name in known}

    @cached_property
    def families(self) -> dict[str, tuple[Family, list[View]]]:
        """The families that the run has tables of."""
        found = {family.key: (family, views_of(family, self.run.rows)) for family in FAMILIES}
        return {key: pair for key, pair in found.items() if pair[1]}

    @cached_property
    def papers(self) -> dict[str, PaperFacts]:
        """The papers, oldest first; keys end in the year of the citation."""
        cited = yaml.safe_load(CITATION.read_text(encoding="utf-8"))["references"]
        by_year = {entry["year"]: entry for entry in cited}
        return {
            key: PaperFacts(
                key,
                name,
                by_year[int(key[-4:])]["title"],
                ", ".join(map(_author, by_year[int(key[-4:])]["authors"])),
                _venue(by_year[int(key[-4:])]),
                int(key[-4:]),
            )
            for key, name in NAMES.items()
        }

    @cached_property
    def claim_ids(self) -> list[str]:
        """The ids of all claims."""
        return list(self.run.claims["claim"])

    def source_of(self, paper: str) -> str:
        """A mechanism's paper for readers: the name and year of ours, or the reference."""
        if paper in self.papers:
            facts = self.papers[paper]
            return f"{facts.name} ({facts.year})"
        return paper

    def catalogue_key(self, study: str, dataset: str) -> str:
        """The entry of the catalogue that a study's data set is made of."""
        return files_of(self.studies[study], dataset) if study in self.studies else dataset


def mechanism_name(key: str) -> str:
    """Title of a mechanism or a variant."""
    return mechanism_title(key)


def calibration_name(calibration: str) -> str:
    """The calibration in words."""
    return CALIBRATION_TITLES[calibration]


def _author(entry: dict) -> str:
    if "name" in entry:
        return entry["name"]
    return f"{entry['given-names']} {entry['family-names']}"


def _venue(entry: dict) -> str:
    return entry.get("collection-title") or entry.get("journal") or entry.get("notes", "")
