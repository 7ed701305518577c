"""Pages, tested without a browser: they follow from the run and escape all data."""

import dataclasses
import functools
import html
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from claims.ledger_pages import BRACKETS
from claims.verdicts import CONFIRMED, CONTRADICTED, MEANING
from mechanisms import all_mechanisms
from mechanisms.query.words import with_minus
from runs.result_table import OK, STATUSES
from site_builder import build as building
from site_builder.cards import add_cell_labels
from site_builder.citations import references
from site_builder.claim_pages import claim_pages, is_about, shown_claims
from site_builder.leaderboards import views_of
from site_builder.mechanism_pages import mechanism_pages
from site_builder.paper_pages import PICTURES, paper_pages, reproduced_page
from site_builder.ranking_pages import leaderboard_pages, queries_page
from site_builder.run_pages import STATUS_WORDS, failures_page
from site_builder.site_data import HOMES, STUDIED, SiteData
from site_builder.start_page import HEADLINES, answers, findings
from site_builder.words import TIMES, insert_authors, number, prose, short_authors
from studies.base import Coordinate, Metric, Study
from studies.base.settings import ConfigError
from studies.base.yaml_file import read_yaml
from studies.common_queries import QUERIES

ROOT = Path(__file__).resolve().parents[2]
EVIL = "<script>alert(1)</script>"


# The templates are compiled once.
environment_of = functools.cache(building.environment_of)


def html_of(site, page):
    return building.render(environment_of(site), page)


@pytest.mark.slow
def test_a_title_with_markup_is_text_everywhere(site, monkeypatch):
    first = next(iter(all_mechanisms().values()))
    monkeypatch.setattr(first, "title", EVIL)
    monkeypatch.setattr(first, "__doc__", f"{EVIL} \"' &")
    pages = [next(mechanism_pages(site)), failures_page(site)]
    for page in pages:
        text = html_of(site, page)
        assert EVIL not in text and "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text


def test_every_status_without_a_value_is_explained(site, monkeypatch):
    missing = pd.concat(
        site.missing.head(1).assign(status=status) for status in STATUSES if status != OK
    )
    monkeypatch.setitem(vars(site), "missing", missing)
    text = html_of(site, failures_page(site))
    for status in missing["status"]:
        assert f"<dt>1 {status}</dt><dd>{STATUS_WORDS[status]}" in html.unescape(text)


def test_a_headline_that_the_verdict_does_not_bear_is_not_told(site):
    made_up = SiteData(site.folder)
    vars(made_up).update(rows={}, claims=site.claims.assign(verdict=CONFIRMED))
    found, other = findings(site), findings(made_up)
    assert len(found) == 5 and "beats" in found[4]["headline"]
    assert "0.217" in found[0]["sentence"]
    assert HEADLINES["r1-thm5"] == (CONTRADICTED, found[0]["headline"])
    assert found[0]["headline"] not in [each["headline"] for each in other]
    assert any(each["headline"].endswith("In this run: confirmed.") for each in other)


def test_the_page_of_queries_shows_what_the_comparison_says(site):
    page = queries_page(site)
    assert [each["name"] for each in page.content["answers"]] == list(QUERIES)
    ranges = next(each for each in page.content["answers"] if each["name"] == "ranges")
    first = ranges["lines"][0]
    assert (first["rank"], first["mechanism"]) == (1, "matrix-mechanism-l1")
    assert first["published"]["verdict"] in ("holds", "loose")
    text = re.sub(r'<span class="option">(.*?)</span>', r"\1", html_of(site, page))
    for asked in QUERIES.values():
        assert asked.command in text
    for each in page.content["answers"]:
        shown = {line["mechanism"] for line in each["lines"]}
        explained = {key for group in each["unranked"] for key in group["mechanisms"]}
        assert shown | explained == set(site.answers[each["name"]]["mechanism"])
        for group in each["unranked"]:
            subject = "it" if len(group["mechanisms"]) == 1 else "each"
            sentence = rf"({subject} (?!only|the|its)\w+s|only an upper bound) "
            assert re.match(sentence, group["reason"])


def test_the_matrix_says_who_is_private_and_how_far_from_the_limit(site):
    lines = site.matrix.lines
    assert set(lines) == set(site.mechanisms)
    assert (lines["r1smg"].private, lines["r1smg"].at) == ("no", "at 4 of 4")
    (first, *_) = site.settings_of("r1smg")
    assert first["setting"] == "Section 7.1, Figures 4 and 5, r1smg2024-count-1e-05, replace"
    # Where both are known, the lower bound is what refutes.
    worst = max(row["true_delta_lower"] for row in site.settings_of("r1smg") if not row["outside"])
    assert lines["r1smg"].true_delta == worst
    assert (lines["mvg"].private, lines["mvg"].at) == ("yes", "at 12 of 12")
    assert lines["r1smg"].true_delta > 0.4 and lines["r1smg"].claimed == 1e-7
    assert (lines["udn"].private, round(lines["udn"].waste[0], 1)) == ("yes", 56.6)
    # sigma of the analytic Gaussian at (1, 1e-5); the limit is at most that.
    gaussian = lines["gaussian-analytic"].over_limit
    assert gaussian["exact"] * site.matrix.limit == pytest.approx(3.73063163, rel=1e-8)
    assert 1.0 <= gaussian["exact"] < 1.01 and site.matrix.size == 10_000


def test_the_start_page_answers_three_questions(site):
    found = answers(site)
    assert [each["section"] for each in found] == ["reproduce", "private", "best"]
    counts = site.verdict_counts
    told = f"170 claims of the five papers and 5 of others: {counts[CONFIRMED]} are confirmed"
    assert told in found[0]["answer"]
    assert "R1SMG" in found[1]["answer"] and "Gaussian" not in found[1]["answer"]


def test_bibtex_names_every_author():
    found = references()
    assert "author = {Ji, Tianxi and Li, Pan}," in found["r1smg2024"][0].bibtex
    assert "author = {Yuan and Tang and Huang and Wu and Wang}," in found["tldp2025"][0].bibtex
    keys = [one.bibtex.split(",")[0] for own in found.values() for one in own]
    assert len(set(keys)) == len(keys)
    assert found["mgm2021"][0].addresses[0][1] == "https://doi.org/10.1109/TMC.2021.3093316"


def test_cells_of_a_table_repeat_the_head_of_their_column():
    table = (
        "<table data-sortable><thead><tr><th>A</th><th>1<sup>2</sup></th></tr></thead>"
        "<tbody><tr><th>x</th><td class=n>y</td></tr></tbody></table>"
    )
    found = add_cell_labels(table)
    assert '<th data-label="A">x</th><td data-label="12" class=n>y</td>' in found
    assert '<table data-sortable class="stack"><thead><tr><th>A</th>' in found


def test_every_paper_of_the_ledger_has_a_page_with_its_reference(site):
    judged = set(site.claims["paper"])
    assert judged <= set(site.papers)
    paths = {page.path: page for page in paper_pages(site)}
    assert {f"papers/{key}.html" for key in judged} <= set(paths)
    for key, facts in site.papers.items():
        text = html_of(site, paths[f"papers/{key}.html"])
        assert facts.references
        for reference in facts.references:
            for words in (reference.title, reference.authors, reference.venue):
                assert escape(words) in text


def test_papers_propose_mechanisms_of_the_registry(site):
    for facts in site.papers.values():
        assert set(facts.mechanisms) <= set(site.mechanisms), facts.key
    proposed = [site.paper_of(key) for key in ("product-noise", "r1smg", "laplace")]
    assert proposed == ["product2026", "r1smg2024", None]


class Ranked(Study):
    """A study for the rows below; only its ranked metrics matter."""

    name = "s"
    metrics = (Metric("loss", "loss", title="loss", closed_form="exact_loss"),)
    coordinates = (Coordinate("workload", str, "queries", choice="Workload"),)
    points = load = measure = None


def result_rows(mechanism, values, metric="loss", calibration="exact", epsilon=1.0, trials=True):
    return pd.DataFrame(
        {
            "study": "s",
            "dataset": "d",
            "data_source": "none",
            "mechanism": mechanism,
            "calibration": calibration,
            "epsilon": epsilon,
            "delta": 1e-5,
            "workload": "w",
            "trial": range(len(values)) if trials else None,
            "metric": metric,
            "value": values,
            "status": "ok",
        }
    )


def test_means_have_students_interval_and_closed_forms_none():
    rows = pd.concat(
        [
            result_rows("mvg", [3.0, 4.0, 5.0]),
            result_rows("udn", [9.0, 9.0]),
            result_rows("udn", [7.0], "exact_loss", trials=False),
        ]
    )
    (view,) = views_of(Ranked(), rows)
    mvg, udn = (line[1.0] for line in view.lines)
    # Student's t with two degrees of freedom: 4.302653 times 1 / sqrt(3).
    assert (mvg.value, mvg.low) == pytest.approx((4.0, 4 - 4.3026527 / np.sqrt(3)))
    assert udn.value == udn.low == udn.high == 7.0 and math.isnan(udn.trials)


def test_intervals_end_where_their_measure_does():
    study = Ranked()
    accuracy = Metric("loss", "accuracy", title="accuracy", better="larger", largest=1.0)
    study.metrics = (accuracy,)
    rows = pd.concat([result_rows("mvg", [0.1, 0.9]), result_rows("udn", [0.2, 0.8])])
    (view,) = views_of(study, rows)
    assert {(line[1.0].low, line[1.0].high) for line in view.lines} == {(0.0, 1.0)}


def leaders(view):
    return set(view.scores["mechanism"][view.scores["best_or_tied"]])


@pytest.mark.parametrize(
    ("calibration", "scores", "best"),
    [
        # In the order of the table. Ties are called ties, and controls do not compete.
        (
            "exact",
            {"mvg": 11.0, "udn": 11.5, "idn": 30.1, "non-private": 0.0, "random-answer": 99.0},
            {"mvg", "udn"},
        ),
        # Nothing leads where the best is no better than a random answer.
        ("exact", {"mvg": 100.0, "udn": 100.0, "random-answer": 100.0}, set()),
        # Published noise with a false claim is neither best nor first; rescaled, it competes.
        (
            "published",
            {"mvg": 1.1, "udn": 9.1, "r1smg": 1.1, "random-answer": 99.0},
            {"mvg"},
        ),
        ("exact", {"mvg": 1.1, "r1smg": 1.1, "udn": 9.1, "random-answer": 99.0}, {"mvg", "r1smg"}),
    ],
)
def test_the_best_are_those_that_nothing_beats(calibration, scores, best):
    rows = pd.concat(
        result_rows(name, [mean - 1.0, mean, mean + 1.0], calibration=calibration)
        for name, mean in scores.items()
    )
    (view,) = views_of(Ranked(), rows.iloc[::-1], {"r1smg": "16 of 16"})
    assert list(view.scores["mechanism"]) == list(scores)
    assert leaders(view) == best and view.ranking == (1.0,) * bool(best)


def test_a_budget_where_all_claims_are_false_ranks_nothing():
    """The ranking then uses another epsilon, at which something competes."""
    rows = pd.concat(
        [
            result_rows(name, values, calibration="published", epsilon=epsilon)
            for name, values, epsilon in (
                ("r1smg", [1.0, 1.1, 1.2], 1.0),
                ("tldp-g", [2.0, 2.1, 2.2], 1.0),
                ("r1smg", [1.0, 1.1, 1.2], 50.0),
                ("mvg", [5.0, 5.1, 5.2], 50.0),
            )
        ]
    )
    false = dict.fromkeys(("r1smg", "tldp-g"), "16 of 16")
    (view,) = views_of(Ranked(), rows, false)
    assert view.epsilons == (1.0, 50.0) and view.ranking == (50.0,)
    assert view.main == 50.0


def test_nothing_leads_where_the_best_is_no_better_than_predicting_zero():
    noisy = [result_rows("mvg", [5.0, 5.1, 5.2]), result_rows("udn", [9.0, 9.1, 9.2])]
    random = result_rows("random-answer", [99.0, 100.0, 101.0])
    for zero, told in ((5.0, False), (8.0, True)):
        control = result_rows("non-private", [zero, zero + 0.1, zero + 0.2], "rmse_of_zero")
        (view,) = views_of(Ranked(), pd.concat([*noisy, random, control]))
        assert bool(view.ranking) == told
        assert leaders(view) == ({"mvg"} if told else set())
        assert "Predicting zero" in set(view.scores["title"][view.scores["control"]])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (12, "12"),
        (1234567.0, f"1.23{TIMES}10<sup>6</sup>"),
        (1e-5, "10<sup>\N{MINUS SIGN}5</sup>"),
        (0.25, "0.25"),
        (-3.14159, "\N{MINUS SIGN}3.142"),
        (float("inf"), "\N{INFINITY}"),
        (float("nan"), "\N{EM DASH}"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_numbers_are_written_for_people(value, shown):
    assert number(value) == shown


def test_prose_links_claims_and_leaves_names_alone():
    text = prose("see mvg-thm3 at (1e-05, 2), hash 4c92e10f", ["mvg-thm3", "mvg-thm"], "../")
    assert '<a href="../claims/mvg-thm3.html">mvg-thm3</a>' in text
    assert "10<sup>\N{MINUS SIGN}5</sup>" in text and "4c92e10f" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "sigma* >= 2 s^2/(epsilon psi)",
            "\N{GREEK SMALL LETTER SIGMA}* \N{GREATER-THAN OR EQUAL TO} 2 s<sup>2</sup>/"
            "(\N{GREEK SMALL LETTER EPSILON} \N{GREEK SMALL LETTER PSI})",
        ),
        (
            "||X||_F^2 and e^epsilon_0",
            "\N{DOUBLE VERTICAL LINE}X\N{DOUBLE VERTICAL LINE}<sub>F</sub><sup>2</sup> and "
            "e<sup>\N{GREEK SMALL LETTER EPSILON}<sub>0</sub></sup>",
        ),
        ("(P_i)^(2/(M-2))", "(P<sub>i</sub>)<sup>2/(M-2)</sup>"),
        ("x + A^+ b", "x + A<sup>+</sup> b"),
        ("true_epsilon of spherical-gamma", "true_epsilon of spherical-gamma"),
        ("Spherical gamma of count_query", "Spherical gamma of count_query"),
        ("`epsilon^2`", "<code>epsilon^2</code>"),
        ("see `f(x) <b>`", "see <code>f(x) &lt;b&gt;</code>"),
        (
            "by -0.05 [95%: -1e-05]",
            "by \N{MINUS SIGN}0.05 [95%: \N{MINUS SIGN}10<sup>\N{MINUS SIGN}5</sup>]",
        ),
        ("1-2 of cifar-10 in 5-fold, r1-f4, 2024-11", "1-2 of cifar-10 in 5-fold, r1-f4, 2024-11"),
        ("`--delta -1` at -1", "<code>--delta -1</code> at \N{MINUS SIGN}1"),
    ],
)
def test_formulas_code_and_numbers_in_prose_are_set_and_names_are_not(text, shown):
    assert prose(text) == shown


def test_papers_in_prose_have_authors_and_year():
    authors = {
        "r1smg2024": short_authors("Tianxi Ji, Pan Li"),
        "mgm2021": short_authors("Yang, Xiang, Yu, Wang"),
    }
    text = "mgm2021's Gaussian; r1smg2024, see r1smg2024_fig4 and paper_figures/mgm2021/claims.yaml"
    assert insert_authors(text, authors) == (
        "Yang et al.'s (2021) Gaussian; Ji and Li (2024), see r1smg2024_fig4 and "
        "paper_figures/mgm2021/claims.yaml"
    )


def test_every_part_of_the_ledger_is_shown_as_it_is_written(site):
    def written(part):
        return f"{part.words}: {part.verdict}" + bool(part.reason) * f" ({part.reason})"

    for claim in shown_claims(site.claims):
        lines = [
            written(part) + bool(part.parts) * f" ({'; '.join(map(written, part.parts))})"
            for part in claim["parts"]
        ]
        assert "\n".join(lines) == site.claims.set_index("claim").loc[claim["id"], "parts"]
        outcomes = [part for part in claim["parts"] if part.parts]
        assert bool(outcomes) == bool(claim["choice"])


@pytest.mark.parametrize("name", ["tldp-f3-range", "tldp-f2-variants", "mgm-udn-gain"])
def test_the_page_of_a_claim_says_its_numbers_once(site, name):
    parts = site.claims.set_index("claim").loc[name, "parts"]
    numbers = re.findall(r"-?[\d.]+ \[[^]]+\]|[\d.]+ \(stated", parts)
    (page,) = (each for each in claim_pages(site) if each.path == f"claims/{name}.html")
    text = html_of(site, page)
    numbers = list(map(with_minus, numbers))
    assert numbers and [text.count(each) for each in numbers] == [1] * len(numbers)


def test_a_folder_without_claims_is_refused(tmp_path):
    with pytest.raises(
        ConfigError, match=r"holds no claims\.csv; run `python -m paper_figures judge"
    ):
        SiteData(tmp_path)


def test_other_peoples_folders_are_not_overwritten(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="holds other files"):
        building.build(ROOT / "results/reference", tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_settings_outside_the_range_of_a_theorem_are_told_from_those_in_it(site):
    """R1SMG's theorem needs epsilon < 1/M; DAWA's has no such range."""
    rows = site.settings_of("r1smg")
    sizes = [math.prod(map(int, row["shape"].split("x"))) for row in rows]
    beyond = [row["epsilon"] >= 1 / size for row, size in zip(rows, sizes, strict=True)]
    assert [bool(row["outside"]) for row in rows] == sorted(beyond) == beyond
    assert not any(row["outside"] for row in site.settings_of("dawa"))
    where = "settings of the papers in the range of its theorem"
    assert site.refuted["r1smg"] == f"4 of 4 {where}"
    assert site.refuted["tldp-l"] == f"11 of 11 {where}"


def test_a_paper_without_a_reference_is_named_and_shown(site, monkeypatch, capsys):
    monkeypatch.setitem(HOMES, "my_paper2026", SimpleNamespace(NAME="Mine"))
    other = SiteData(site.folder)
    paper = other.papers["my_paper2026"]
    assert capsys.readouterr().err == (
        "warning: add my_paper2026 to the references of CITATION.cff\n"
    )
    assert (paper.name, paper.title, paper.year) == ("Mine", "Mine", 2026)
    claims = site.claims
    own = claims[claims["claim"] == "r1-thm5"].assign(paper="my_paper2026")
    vars(other)["claims"] = pd.concat([claims, own])
    pages = {page.path: page for page in paper_pages(other)}
    assert "<h1>Mine" in html_of(site, pages["papers/my_paper2026.html"])


def test_a_mechanism_with_several_uses_ties_once_on_every_page(site):
    """The index and the pages of mechanisms count mechanisms in the same words."""
    (view,) = views_of(
        Ranked(), pd.concat([result_rows("mvg", [10.0, 11.0]), result_rows("udn", [10.5, 11.5])])
    )
    other = view.scores.iloc[1:].assign(mechanism="mvg", title="MVG (share 0.5)")
    several = dataclasses.replace(view, scores=pd.concat([view.scores, other]))
    assert several.best_mechanisms == {"mvg": "MVG", "udn": "MGM-UDN"}
    page = next(each for each in mechanism_pages(site) if each.path == "mechanisms/laplace.html")
    counts = set(re.findall(r"\((\d+) mechanisms tie\)", html_of(site, page)))
    (index,) = (p for p in leaderboard_pages(site) if p.path == "leaderboard/index.html")
    assert counts and counts <= set(re.findall(r"\((\d+) mechanisms tie\)", html_of(site, index)))


def test_a_leaderboard_says_what_a_choice_and_brackets_are(site):
    pages = {page.path: html_of(site, page) for page in leaderboard_pages(site)}
    rate = '<br><span class="soft small">learning rate 0.15</span>'
    assert rate in pages["leaderboard/index.html"]
    words = "after a mechanism give its treatment (a set of informative features, or iid"
    assert words in pages["leaderboard/regression.html"]
    assert "null where" not in pages["leaderboard/regression.html"]
    assert "The brackets after" not in pages["leaderboard/counts.html"]


def test_every_figure_and_table_of_a_paper_that_is_drawn_is_described(site):
    described = set(read_yaml(PICTURES))
    drawn = {
        name
        for name, each in site.drawings.items()
        if each.drawing.paper in STUDIED and re.search(r"_(fig|table)\d+$", name)
    }
    assert described == drawn and site.drawings["mvg2018_table3"].place == "Table 3"
    figure = site.drawings["r1smg2024_fig5"]
    own = site.claims[[is_about(claim, figure) for _, claim in site.claims.iterrows()]]
    assert {"r1-f5-loss", "r1-f5-shape"} <= set(own["claim"]) and set(own["paper"]) == {"r1smg2024"}
    assert all(re.search(r"Figure 5(?!\d)", where) for where in own["where"])
    text = html_of(site, reproduced_page(site))
    assert '<a href="claims/r1-f5-loss.html">' in text and "Histograms of the loss" in text


def test_the_page_of_a_claim_says_what_its_verdict_means_and_where_its_rows_come_from(site):
    (page,) = (each for each in claim_pages(site) if each.path == "claims/r1-thm5.html")
    text = html_of(site, page)
    assert f"Contradicted: {MEANING[CONTRADICTED]}" in text
    assert 'href="../claims.html#verdict-contradicted"' in text
    assert f"Rows of guarantee: {site.origins['guarantee'][0]}" in text
    index = html_of(site, next(claim_pages(site)))
    assert 'id="verdict-contradicted"' in index and BRACKETS in index
