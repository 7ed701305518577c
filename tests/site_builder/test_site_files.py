"""The files of the committed run's site: links, sizes, claims, pictures, and the bytes again."""

import csv
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from site_builder.build import environment_of, rendered
from site_builder.run_folder import RunFolder
from site_builder.run_pages import failures_page, reproduce_page
from site_builder.site_data import SiteData
from site_builder.start_page import start_page

# The largest page has every claim, at some 2 kB each.
LARGEST_PAGE, LARGEST_SHARED = 350_000, 1_000_000


class Links(HTMLParser):
    """The addresses, ids and inline code of a page."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.resources, self.ids, self.inline = [], [], [], []
        self._script = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a" and "href" in found:
            self.addresses.append(found["href"])
        elif tag in ("script", "link", "img"):
            self.resources += [found[name] for name in ("src", "href") if name in found]
        if tag == "script":
            self._script = found.get("type", "")
        self.inline += [name for name in found if name.startswith("on") or name == "style"]

    def handle_data(self, data):
        if self._script == "" and data.strip():
            self.inline.append(data)

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None


@pytest.fixture(scope="module")
def pages(built):
    """The pages by path, parsed."""
    return {
        str(path.relative_to(built)): Links(path.read_text(encoding="utf-8"))
        for path in sorted(built.rglob("*.html"))
    }


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(built, pages):
    broken = []
    for path, page in pages.items():
        for address in [*page.addresses, *page.resources]:
            parts = urlsplit(address)
            assert not parts.scheme, f"{path} leads to {address}"
            target = (built / path).parent / parts.path if parts.path else built / path
            if not target.resolve().is_file():
                broken.append(f"{path}: {address}")
            elif parts.fragment:
                name = str(target.resolve().relative_to(built.resolve()))
                if unquote(parts.fragment) not in pages[name].ids:
                    broken.append(f"{path}: {address}")
    assert not broken, broken[:20]


def test_ids_are_unique_and_nothing_is_inline(pages):
    for path, page in pages.items():
        twice = [name for name, count in Counter(page.ids).items() if count > 1]
        assert not twice, (path, twice)
        assert not page.inline, (path, page.inline[:3])


def test_pages_and_shared_files_are_small(built):
    large = {str(p): p.stat().st_size for p in built.rglob("*.html")}
    assert max(large.values()) <= LARGEST_PAGE
    assert all(p.stat().st_size <= LARGEST_SHARED for p in (built / "assets").iterdir())
    assert all(p.stat().st_size <= LARGEST_PAGE for p in (built / "files").glob("*.png"))


def test_every_claim_has_its_verdict_on_the_page(built):
    text = (built / "claims.html").read_text(encoding="utf-8")
    with open("results/reference/claims.csv", encoding="utf-8") as file:
        claims = list(csv.DictReader(file))
    shown = dict(
        re.findall(r'<article class="claim" id="([\w-]+)"[^>]*data-verdict="([^"]+)"', text)
    )
    assert shown == {claim["claim"]: claim["verdict"] for claim in claims}


def test_pages_are_the_same_under_another_hash_seed(built):
    # The site was built in a process with a hash seed of its own.
    site = SiteData(RunFolder(Path("results/reference")))
    environment = environment_of(site)
    for page in (start_page(site), failures_page(site), reproduce_page(site)):
        written = (built / page.path).read_text(encoding="utf-8")
        assert rendered(environment, page) == written, page.path


def test_the_pictures_that_stand_alone_have_colours(built):
    pictures = list((built / "files").glob("*.svg"))
    assert len(pictures) > 20
    for path in pictures:
        text = path.read_text(encoding="utf-8")
        assert "var(" not in text and "currentColor" not in text, path
