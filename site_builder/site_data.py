"""The data that several pages share: a run, and the facts derived from it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from claims.discovery import paper_homes
from claims.guarantee import by_setting, setting_of
from claims.judged_rows import ok_rows
from claims.ledger import read_ledger
from claims.verdicts import count_of
from mechanisms import Mechanism, all_mechanisms
from mechanisms.verification.standing import Standing, standing_by
from mechanisms.verification.verification import REFUTED
from paper_figures.selections import size_of
from paper_figures.suite.common_queries import answers
from runs.provenance import ENDING, commit_of_tree, origins_in
from runs.result_table import OK, schema_of
from runs.results import read_frame
from site_builder.citations import Reference, references
from site_builder.drawn_file import DrawnFile, drawn_in
from site_builder.leaderboards import View, views_of
from site_builder.matrix import Matrix, matrix
from studies.base.families import FAMILIES, Family
from studies.base.settings import ConfigError
from studies.base.study import all_studies
from studies.base.yaml_file import read_yaml
from studies.common_queries import CommonQueries
from studies.guarantee import Guarantee

CONFIGS = Path("config")
# The key of drawings and claims that belong to no paper.
SUITE = "suite"


@dataclass(frozen=True)
class Page:
    """A page of the site.

    Args:
        path: The path relative to the site's folder.
        template: The name of the file in templates/.
        title: The title of the document.
        section: The path of the navigation entry to which the page belongs.
        about: A sentence for search engines and link previews.
        content: The variables of the template.
    """

    path: str
    template: str
    title: str
    section: str
    about: str
    content: dict[str, Any]

    @property
    def root(self) -> str:
        """The relative path from the page to the site's folder."""
        return "../" * self.path.count("/")


@dataclass(frozen=True)
class PaperFacts:
    """A paper, or two papers on one kind of noise that share a key.

    Args:
        key: The key, which ends with a year.
        name: The short name, such as that of the noise that the paper proposes.
        references: The publications.
        mechanisms: The keys of the mechanisms that the paper proposes.
    """

    key: str
    name: str
    references: tuple[Reference, ...]
    mechanisms: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title of the publication, or the short name if there is not exactly one."""
        return self.references[0].title if len(self.references) == 1 else self.name

    @property
    def year(self) -> int:
        """The year of the latest publication, or the year in the key if none is cited."""
        return max((reference.year for reference in self.references), default=int(self.key[-4:]))


# The packages paper_figures/<paper>/ that state a short name, by key, oldest first.
HOMES = {key: home for key, home in paper_homes().items() if hasattr(home, "NAME")}
# The papers with studies in the suite. Of the other papers, only claims are judged.
STUDIED = {study.paper for study in all_studies().values()}


@dataclass(frozen=True)
class SiteData:
    """A run, and the facts derived from it.

    Args:
        folder: The folder results/<run>.

    Raises:
        ConfigError: The claims of the run have not been judged.
    """

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / "claims.csv").exists():
            raise ConfigError(
                f"{self.folder} holds no claims.csv; run `python -m paper_figures judge "
                f"{self.name}` first"
            )

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.folder.name

    @cached_property
    def rows(self) -> dict[str, pd.DataFrame]:
        """The rows of every study of the run, without maps and timings, by the study's name."""
        tables = {name: self.folder / "studies" / f"{name}.parquet" for name in all_studies()}
        return {name: read_frame(path) for name, path in tables.items() if path.exists()}

    @cached_property
    def missing(self) -> pd.DataFrame:
        """The rows without a value, of all studies."""
        return pd.concat(rows[rows["status"] != OK] for rows in self.rows.values())

    @cached_property
    def claims(self) -> pd.DataFrame:
        """The ledger."""
        return read_ledger(self.folder)

    @cached_property
    def verdict_counts(self) -> Mapping[str, int]:
        """The number of claims with each verdict."""
        return count_of(self.claims["verdict"])

    @cached_property
    def drawings(self) -> dict[str, DrawnFile]:
        """The figures and tables that the run has, by name."""
        return drawn_in(self.folder)

    @cached_property
    def commit(self) -> str:
        """The commit of the code that builds the site; "" outside a git repository."""
        return commit_of_tree().removesuffix("-dirty")

    @cached_property
    def config(self) -> Path | None:
        """The path of the config of this run; None if no file in config/ has one."""
        # Most configs are named after their run. Trying that name first avoids reading others.
        paths = sorted(CONFIGS.glob("*.yaml"), key=lambda path: (path.stem != self.name, path))
        return next((path for path in paths if read_yaml(path).get("run") == self.name), None)

    @cached_property
    def origins(self) -> dict[str, list[str]]:
        """The commits that measured the rows, by study; the commit with most cells comes first."""
        folder = self.folder / "studies"
        return {study: origins_in(folder / f"{study}{ENDING}") for study in self.rows}

    @cached_property
    def mechanisms(self) -> dict[str, type[Mechanism]]:
        """The registered mechanisms by key."""
        return all_mechanisms()

    @cached_property
    def families(self) -> list[tuple[Family, list[View]]]:
        """Each family of queries for which the run has tables, with these tables."""
        found: dict[Family, list[View]] = {each: [] for each in FAMILIES}
        for name, rows in self.rows.items():
            study = all_studies()[name]
            if study.family is not None:
                found[study.family] += views_of(study, rows, self.refuted)
        return [(family, views) for family, views in found.items() if views]

    @cached_property
    def answers(self) -> dict[str, pd.DataFrame]:
        """The comparisons of mechanisms for common queries, by the name of the query."""
        rows = self.rows.get(CommonQueries.name)
        return {} if rows is None else answers(rows)

    @cached_property
    def papers(self) -> dict[str, PaperFacts]:
        """The papers by key, those with studies first.

        A paper that CITATION.cff does not cite is named on stderr and has no reference.
        """
        cited, found = references(), {}
        for key in sorted(HOMES, key=lambda key: key not in STUDIED):
            if key not in cited:
                print(f"warning: add {key} to the references of CITATION.cff", file=sys.stderr)
            own = [name for name, cls in self.mechanisms.items() if cls.paper == key]
            proposed = (*own, *getattr(HOMES[key], "MECHANISMS", ()))
            found[key] = PaperFacts(key, HOMES[key].NAME, cited.get(key, ()), proposed)
        return found

    def paper_of(self, mechanism: str) -> str | None:
        """Return the key of the paper that proposes a mechanism, or None."""
        found = (key for key, facts in self.papers.items() if mechanism in facts.mechanisms)
        return next(found, None)

    @cached_property
    def guarantees(self) -> pd.DataFrame:
        """The rows of the study guarantee; empty if the run lacks it."""
        none = schema_of(Guarantee.coordinates).empty_table().to_pandas()
        return self.rows.get(Guarantee.name, none)

    @cached_property
    def noise(self) -> pd.DataFrame:
        """The rows on the noise of every mechanism by size, at the epsilon nearest to 1 in ratio.

        `size` is the number of elements, `value` is E||noise||^2, and `noise` is the root mean
        square noise of an element.
        """
        rows = ok_rows(self.guarantees, "guarantee", "expected_loss", "grid")
        nearest = min(rows["epsilon"].unique(), key=lambda each: abs(np.log(each)), default=1.0)
        rows = rows[rows["epsilon"] == nearest]
        sizes = rows["shape"].map(size_of).astype(int)
        return rows.assign(size=sizes, noise=(rows["value"] / sizes) ** 0.5)

    @cached_property
    def settings(self) -> pd.DataFrame:
        """The verdict on every published mechanism at every setting of a paper, with numbers.

        The columns are mechanism, shape, epsilon, delta, verdict, message, claimed (delta), setting
        (as text, with its adjacency), outside (the reason why the setting is outside the range of
        the theorem, or "") and the other metrics of the study. The table is empty if the run has no
        verdicts.
        """
        rows = self.guarantees
        rows = rows[(rows["dataset"] == "papers") & (rows["calibration"] == "published")]
        found = by_setting(rows).reset_index().rename(columns={"claimed_delta": "claimed"})
        places = map(setting_of, found["shape"], found["epsilon"], found["delta"])
        found["setting"] = [f"{each.where}, {each.name}, {each.query.adjacency}" for each in places]
        # A message is a warning such as "gaussian: the theorem is proved for epsilon < 1 only".
        found["outside"] = found["message"].str.replace(r"^[^ ]*: ", "", n=1, regex=True)
        return found

    @cached_property
    def matrix(self) -> Matrix:
        """The table of all mechanisms."""
        return matrix(self.noise, self.settings, self.standings, self.mechanisms)

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """The standing of each published claim, by mechanism, in the range of its theorem."""
        covered = self.settings[self.settings["outside"] == ""].groupby("mechanism")["verdict"]
        return {mechanism: standing_by(verdicts) for mechanism, verdicts in covered}

    @cached_property
    def refuted(self) -> dict[str, str]:
        """The mechanisms whose published claim is false, with the number of settings in words."""
        standings = self.standings.items()
        return {key: each.places for key, each in standings if each.verdict == REFUTED}

    def settings_of(self, mechanism: str) -> list[dict]:
        """Return the rows of `settings` on a mechanism; those in its theorem's range come first."""
        own = self.settings[self.settings["mechanism"] == mechanism]
        ordered = own.sort_values("outside", key=lambda why: why.ne(""), kind="stable")
        return ordered.to_dict("records")

    def source_of(self, paper: str) -> str:
        """Return the name and the year of a paper, given its key; other texts are not changed."""
        facts = self.papers.get(paper)
        return f"{facts.name} ({facts.year})" if facts else paper
