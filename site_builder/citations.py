"""The publications of CITATION.cff, as text, links, BibTeX and metadata for archives."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studies.base.yaml_file import read_yaml

CITATION = Path("CITATION.cff")
_KINDS = {"conference-paper": "inproceedings", "article": "article", "software": "misc"}
_ARXIV = "arXiv:"


@dataclass(frozen=True)
class Reference:
    """A publication.

    Args:
        title, authors, venue, year: The citation; the venue of a preprint is "".
        addresses: Pairs (label, URL) for the DOI and the preprint, if they are known.
        bibtex: The BibTeX entry.
    """

    title: str
    authors: str
    venue: str
    year: int
    addresses: tuple[tuple[str, str], ...]
    bibtex: str


def references() -> dict[str, tuple[Reference, ...]]:
    """Return the publications by the key of their paper, which may have several."""
    found: dict[str, list[Reference]] = {}
    for entry in _cited()["references"]:
        own = found.setdefault(entry["abbreviation"], [])
        own.append(_reference(entry, entry["abbreviation"] + "abc"[len(own)] * bool(own)))
    return {key: tuple(own) for key, own in found.items()}


def suite() -> Reference:
    """Return the reference of this suite."""
    return _reference(_cited(), "matrixnoisebench")


def repository() -> str | None:
    """Return the URL of the repository, or None if CITATION.cff does not state it yet."""
    return _cited().get("repository-code")


def archive_metadata() -> dict[str, dict]:
    """Return the metadata for Software Heritage (CodeMeta) and for Zenodo, by file name."""
    cited = _cited()
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [_author(each) for each in cited["authors"]]
    told = {"description": project["description"], "version": cited["version"]}
    published, licence = str(cited["date-released"]), cited["license"]
    code = {"codeRepository": cited["repository-code"]} if "repository-code" in cited else {}
    return {
        "codemeta.json": {
            "@context": "https://w3id.org/codemeta/3.0",
            "@type": "SoftwareSourceCode",
            "name": cited["title"],
            "author": [{"@type": "Organization", "name": name} for name in names],
            "license": f"https://spdx.org/licenses/{licence}",
            "datePublished": published,
            "programmingLanguage": "Python",
            "softwareRequirements": project["dependencies"],
            **told,
            **code,
        },
        ".zenodo.json": {
            "title": cited["title"],
            "upload_type": "software",
            "creators": [{"name": name} for name in names],
            "license": licence,
            "publication_date": published,
            "references": [
                f"{each.authors} ({each.year}). {each.title}. "
                + ". ".join(filter(None, [each.venue, *(words for words, _ in each.addresses)]))
                for own in references().values()
                for each in own
            ],
            **told,
        },
    }


@functools.cache
def _cited() -> dict:
    return read_yaml(CITATION)


def _reference(entry: Mapping, key: str) -> Reference:
    preprint = entry.get("notes", "")
    addresses = []
    if "doi" in entry:
        addresses.append((f"doi:{entry['doi']}", f"https://doi.org/{entry['doi']}"))
    if preprint.startswith(_ARXIV):
        addresses.append((preprint, f"https://arxiv.org/abs/{preprint.removeprefix(_ARXIV)}"))
    year = entry.get("year") or entry["date-released"].year
    return Reference(
        title=entry["title"],
        authors=", ".join(map(_author, entry["authors"])),
        venue=entry.get("collection-title") or entry.get("journal", ""),
        year=year,
        addresses=tuple(addresses),
        bibtex=_bibtex(entry, key, year),
    )


def _author(entry: Mapping) -> str:
    if "name" in entry:
        return entry["name"]
    return f"{entry['given-names']} {entry['family-names']}"


def _bibtex(entry: Mapping, key: str, year: int) -> str:
    version = f"Version {entry['version']}" if "version" in entry else None
    fields = {
        "title": f"{{{entry['title']}}}",
        "author": " and ".join(map(_bibtex_author, entry["authors"])),
        "booktitle": entry.get("collection-title"),
        "journal": entry.get("journal"),
        "volume": entry.get("volume"),
        "pages": f"{entry['start']}--{entry['end']}" if "start" in entry else None,
        "year": year,
        "doi": entry.get("doi"),
        "note": entry.get("notes") or version,
        "url": entry.get("repository-code"),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value is not None]
    return "\n".join([f"@{_KINDS[entry['type']]}{{{key},", *lines, "}"])


def _bibtex_author(entry: Mapping) -> str:
    if "name" not in entry:
        return f"{entry['family-names']}, {entry['given-names']}"
    # In some entries, one name has the surnames of all authors.
    name = entry["name"]
    return " and ".join(name.split(", ")) if ", " in name else f"{{{name}}}"
