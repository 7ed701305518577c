"""Write the site of a run into a folder."""

import io
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import jinja2
import pandas as pd
from PIL import Image

from datasets.titles import dataset_title
from paper_figures.selections import SOURCE_WORDS
from paper_figures.style import CALIBRATION_TITLES, look, mechanism_title
from site_builder.cards import add_cell_labels, keep_options_whole
from site_builder.claim_pages import TONES, claim_pages
from site_builder.leaderboards import CONTROLS
from site_builder.mechanism_pages import mechanism_pages
from site_builder.paper_pages import paper_pages, reproduced_page
from site_builder.ranking_pages import leaderboard_pages, queries_page
from site_builder.run_pages import data_page, failures_page, reproduce_page
from site_builder.site_data import Page, SiteData
from site_builder.start_page import start_page
from site_builder.words import (
    first_sentence,
    insert_authors,
    number,
    prose,
    sentences,
    short_authors,
)
from studies.base.settings import ConfigError

HERE = Path(__file__).parent
# The name of the suite, and of the file that marks a folder as written by this builder.
NAME = "matrix-noise-bench"
MARK = "built-by-site-builder"
# The number of colours of each picture. Drawings have few colours.
PICTURE_COLOURS = 128
NAVIGATION = (
    ("index.html", "Findings"),
    ("queries.html", "Queries"),
    ("leaderboard/index.html", "Leaderboard"),
    ("claims.html", "Claims"),
    ("papers/index.html", "Papers"),
    ("mechanisms/index.html", "Mechanisms"),
    ("data.html", "Data"),
    ("failures.html", "Failures"),
    ("reproduce.html", "Reproduce"),
)


def build(run: Path, out: Path) -> list[Path]:
    """Write the site of a run; the same run and code give the same bytes.

    Args:
        run: The folder results/<run>.
        out: The folder of the site.

    Returns:
        The paths of the pages.

    Raises:
        ConfigError: `out` is not empty and no earlier build wrote it, or the claims of the run have
            not been judged.
    """
    site = SiteData(run)
    _empty(out)
    environment = environment_of(site)
    written = []
    for page in pages_of(site):
        written.append(out / page.path)
        _write(written[-1], render(environment, page))
    _write_assets(site, out)
    _write_downloads(site, out)
    return written


def pages_of(site: SiteData) -> Iterator[Page]:
    """Yield every page of the site."""
    yield start_page(site)
    if site.answers:
        yield queries_page(site)
    yield from leaderboard_pages(site)
    yield from claim_pages(site)
    yield from paper_pages(site)
    yield reproduced_page(site)
    yield from mechanism_pages(site)
    yield data_page(site)
    yield failures_page(site)
    yield reproduce_page(site)


def environment_of(site: SiteData) -> jinja2.Environment:
    """Return the templates, with the filters and values that all pages share; data are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    authors = {
        key: short_authors(facts.references[0].authors)
        for key, facts in site.papers.items()
        if facts.references
    }
    claims = list(site.claims["claim"])
    environment.filters |= {
        "number": number,
        "prose": lambda text, root="": prose(insert_authors(str(text), authors), claims, root),
        "plain": prose,
        "css": css_name,
        "dataset_title": dataset_title,
        "first_sentence": first_sentence,
        "sentences": sentences,
    }
    environment.globals |= {
        "site": site,
        "suite_name": NAME,
        "navigation": [
            (path, title) for path, title in NAVIGATION if site.answers or path != "queries.html"
        ],
        "mechanism_name": mechanism_title,
        "tones": TONES,
        "calibrations": CALIBRATION_TITLES,
        "source_words": SOURCE_WORDS,
    }
    return environment


def render(environment: jinja2.Environment, page: Page) -> str:
    """Render a page as HTML."""
    template = environment.get_template(page.template)
    html = template.render(page=page, root=page.root, **page.content)
    return keep_options_whole(add_cell_labels(html))


def _empty(out: Path) -> None:
    if out.exists() and any(out.iterdir()):
        if not (out / MARK).exists():
            raise ConfigError(f"{out} holds other files; choose an empty folder with --out")
        shutil.rmtree(out)
    _write(out / MARK, f"{NAME}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_assets(site: SiteData, out: Path) -> None:
    shutil.copytree(HERE / "assets", out / "assets", copy_function=shutil.copyfile)
    run = (rows["mechanism"].unique() for rows in site.rows.values())
    mechanisms = {*site.mechanisms, *CONTROLS}.union(*run)
    _write(out / "assets" / "colours.css", stylesheet(mechanisms))
    # This file tells GitHub Pages to serve the files as they are.
    _write(out / ".nojekyll", "")


def css_name(word: str) -> str:
    """Turn a mechanism's key or a verdict into part of a CSS name, of a-z, 0-9 and hyphens only."""
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def stylesheet(mechanisms: Iterable[str]) -> str:
    """Return CSS with a class `m-KEY` for each mechanism: the colour of its swatch.

    A swatch is beside the mechanism's name and has the mechanism's colour in the figures.
    """
    return "".join(
        f".m-{css_name(name)}{{--swatch:{look(name).colour}}}\n" for name in sorted(mechanisms)
    )


def _write_downloads(site: SiteData, out: Path) -> None:
    files = out / "files"
    files.mkdir(exist_ok=True)
    for drawing in site.drawings.values():
        shutil.copyfile(drawing.file("csv"), files / f"{drawing.name}.csv")
        for ending, path in drawing.pictures.items():
            (files / f"{drawing.name}.{ending}").write_bytes(small_picture(path))
    for study in site.rows:
        table = f"{study}.parquet"
        shutil.copyfile(site.folder / "studies" / table, files / table)
    shutil.copyfile(site.folder / "claims.csv", files / "claims.csv")
    for family, views in site.families:
        table = pd.concat(view.table() for view in views)
        table.to_csv(files / f"leaderboard-{family.key}.csv", index=False, float_format="%.10g")
    if site.answers:
        each = (frame.assign(query=name) for name, frame in site.answers.items())
        rows = pd.concat(each).drop(columns="seconds_per_draw")
        rows.to_csv(files / "queries.csv", index=False, float_format="%.10g")
    site.missing.to_csv(files / "no-value.csv", index=False)


def small_picture(path: Path) -> bytes:
    """Return a PNG file of a figure with few colours, about a third as large."""
    with Image.open(path) as picture:
        rgb = picture.convert("RGB")
    # The octree keeps rare colours, such as those of a thin line.
    few = rgb.quantize(PICTURE_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    written = io.BytesIO()
    few.save(written, "PNG")
    return written.getvalue()
