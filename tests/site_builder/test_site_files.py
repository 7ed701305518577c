"""The site's command line, and its files: links, sizes, claims, pictures, equal bytes."""

import csv
import re
from collections import Counter
from urllib.parse import urlsplit

import pytest
from site_links import broken_links, parsed

from datasets import DATASETS
from site_builder import notebook, readme
from site_builder.__main__ import main
from site_builder.build import environment_of, render
from site_builder.run_pages import failures_page, reproduce_page
from site_builder.start_page import start_page
from site_builder.words import sentences

pytestmark = pytest.mark.slow
LARGEST_PAGE, LARGEST_SHARED = 300_000, 1_000_000
# External sites that pages link to: papers and publishers of data sets.
PAPERS = {"doi.org", "arxiv.org"}


@pytest.fixture(scope="module")
def pages(built):
    return parsed(built)


def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(built, pages):
    assert broken_links(built, pages) == []


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


def test_links_to_elsewhere_lead_to_papers_and_publishers_of_data(pages):
    publishers = {
        urlsplit(url).hostname
        for entry in DATASETS.values()
        for file in (*entry.files, *filter(None, [entry.archive]))
        for url in file.urls
    }
    hosts = {urlsplit(address).hostname for page in pages.values() for address in page.addresses}
    assert PAPERS < hosts <= PAPERS | publishers | {None}


def test_every_claim_has_its_verdict_on_the_index_and_on_a_page_of_its_own(built):
    text = (built / "claims.html").read_text(encoding="utf-8")
    with open("results/reference/claims.csv", encoding="utf-8") as file:
        claims = {claim["claim"]: claim for claim in csv.DictReader(file)}
    shown = dict(
        re.findall(r'<article class="claim" id="([\w-]+)"[^>]*data-verdict="([^"]+)"', text)
    )
    assert shown == {name: claim["verdict"] for name, claim in claims.items()}
    for name, claim in claims.items():
        own = (built / f"claims/{name}.html").read_text(encoding="utf-8")
        assert f'<meta name="description" content="{claim["verdict"].capitalize()}: ' in own
        assert f"python -m paper_figures show reference {name}<" in own
        assert "@misc{matrixnoisebench," in own
    judged = (built / "claims/r1-thm5.html").read_text(encoding="utf-8")
    assert "check_certificate.py results/reference/certificates/r1-thm5.json" in judged
    assert "pip install python-flint" in judged  # imported by the checker
    assert "<code>claims/guarantee.py:" in judged and "def guarantee(" in judged
    assert "https://arxiv.org/abs/2306.02256" in judged and "@inproceedings{r1smg2024," in judged


def test_no_page_shows_markup_or_names_of_python(built):
    code = re.compile(r"<(pre|code)\b.*?</\1>", re.DOTALL)
    for path in built.rglob("*.html"):
        text = code.sub("", path.read_text(encoding="utf-8"))
        assert not re.search(r"`|>(None|nan|NaN|True|False)<|\[object", text), path


def test_a_claim_says_no_sentence_twice():
    columns = ("statement", "sentence", "we find", "choice", "reservation", "scope", "detail")
    with open("results/reference/claims.csv", encoding="utf-8") as file:
        for claim in csv.DictReader(file):
            said = [each for name in columns for each in set(sentences(claim[name])) if each]
            assert [each for each, count in Counter(said).items() if count > 1] == []


def test_pages_are_the_same_under_another_hash_seed(built, site):
    # The site was built in a process with another hash seed.
    environment = environment_of(site)
    for page in (start_page(site), failures_page(site), reproduce_page(site)):
        written = (built / page.path).read_text(encoding="utf-8")
        assert render(environment, page) == written, page.path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["built", "tiny"],
            "argument command: invalid choice: 'built' (choose from 'build')",
        ),
        (["build"], "the following arguments are required: run"),
    ],
)
def test_a_usage_error_is_one_line(arguments, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == (f"error: {words}; see python -m site_builder --help\n")


@pytest.mark.parametrize("script", [notebook, readme])
@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["--nope"], 2)])
def test_a_script_that_rewrites_files_asked_for_help_rewrites_none(
    script, arguments, status, capsys
):
    with pytest.raises(SystemExit) as stopped:
        script.main(arguments)
    assert stopped.value.code == status
    told = capsys.readouterr()
    assert f"{script.__name__} [-h]" in told.out or told.err.count("\n") == 1


def test_a_run_without_results_is_an_error_of_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["build", "tiny"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: results has no run with tables 'tiny'; it has none")
