"""The site of the committed run in a real browser: how its pages look and behave."""

import csv
import io
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.slow
# One page of every kind; a filter keeps the pages small.
KINDS = (
    "index.html",
    "queries.html",
    "leaderboard/index.html",
    "leaderboard/ranges.html",
    "claims.html?verdict=depends&paper=mvg2018",
    "claims/r1-thm5.html",
    "claims/tldp-error-order.html",
    "papers/index.html",
    "papers/imgm2022.html",
    "mechanisms/index.html",
    "mechanisms/r1smg.html",
    "reproduced.html",
    "data.html",
    "failures.html?study=pca",
    "reproduce.html",
)


PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


def setting(theme, viewport, script):
    """The options of a browser's context."""
    return {"color_scheme": theme, "viewport": viewport, "java_script_enabled": script}


# Every pair of theme, width and JavaScript occurs in one of these.
SETTINGS = {
    "light-desktop-script": setting("light", DESKTOP, True),
    "dark-phone-script": setting("dark", PHONE, True),
    "light-phone-plain": setting("light", PHONE, False),
    "dark-desktop-plain": setting("dark", DESKTOP, False),
}
on_a_phone = pytest.mark.parametrize("visit", [SETTINGS["dark-phone-script"]], indirect=True)
without_script = pytest.mark.parametrize("visit", [SETTINGS["dark-desktop-plain"]], indirect=True)


# Sections of a page are alike, so axe looks at the first ones.
SECTIONS = {"exclude": ["section.view:nth-of-type(n+4)"]}


def test_every_kind_of_page_is_there(built):
    pages = paths_of(built)
    assert {urlsplit(kind).path for kind in KINDS} <= pages
    assert 70 < len(pages) <= 250


def paths_of(built):
    """The pages of the site."""
    return {str(path.relative_to(built)) for path in built.rglob("*.html")}


class Visit:
    """A page in a browser, and everything that went wrong on it."""

    def __init__(self, page, built):
        self.built, self.page = Path(built).resolve(), page
        self.problems = []
        self.page.on("console", lambda m: self.problems.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.problems.append(f"error: {e}"))
        self.page.on("request", self._request)

    def _request(self, request):
        allowed = (f"file://{self.built}", "data:", "blob:")
        if not request.url.startswith(allowed):
            self.problems.append(f"request: {request.url}")

    def open(self, address):
        self.page.goto(f"file://{self.built}/{address}")
        return self.page


@pytest.fixture
def visit(request, browser, built):
    """A visit with the options of a context, by default at desktop width in the light theme.

    Nothing may go wrong on it.
    """
    context = browser.new_context(**getattr(request, "param", SETTINGS["light-desktop-script"]))
    made = Visit(context.new_page(), built)
    yield made
    context.close()
    assert not made.problems


@pytest.mark.parametrize("visit", SETTINGS.values(), ids=SETTINGS, indirect=True)
def test_every_kind_of_page_is_sound(visit, request):
    from axe_playwright_python.sync_playwright import Axe

    viewport = visit.page.viewport_size
    script, found = "plain" not in request.node.name, []
    for path in KINDS:
        page = visit.open(path)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"], f"{path} is {width} pixels wide"
        if viewport == PHONE:
            assert page.evaluate(BEYOND) == [], path
        assert page.locator("h1").is_visible()
        if not script:
            assert page.locator(".js-only:visible").count() == 0
            continue
        # Preloading would fetch the stylesheets again, which the policy of the page forbids.
        options = {"preload": False, "resultTypes": ["violations"]}
        report = Axe().run(page, context=SECTIONS, options=options)
        found += [
            f"{path}: {v['id']}: {v['nodes'][0]['html'][:200]}"
            for v in report.response["violations"]
        ]
    assert not found, "\n".join(found)


# Elements that end beyond the right edge, except hidden text.
BEYOND = """() => [...document.querySelectorAll("body *")].filter((element) =>
  !element.closest(".unseen, .skip, [hidden]")
  && element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.outerHTML)"""


@on_a_phone
def test_no_page_of_all_goes_wrong_or_overflows_on_a_phone(visit, built):
    paths = sorted(paths_of(built) - {urlsplit(kind).path for kind in KINDS})
    # The pages of claims are alike.
    of_claims = [path for path in paths if path.startswith("claims/")]
    for path in sorted({*paths} - {*of_claims}) + of_claims[::20]:
        assert visit.open(path).evaluate(BEYOND) == [], path


# Options that take two lines.
CUT = """() => {
  const cut = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode()); )
    for (const option of text.data.matchAll(/--[a-z][\\w-]*/g)) {
      const range = document.createRange();
      range.setStart(text, option.index);
      range.setEnd(text, option.index + option[0].length);
      const tops = [...range.getClientRects()].map((line) => Math.round(line.top));
      if (new Set(tops).size > 1) cut.push(option[0]);
    }
  return cut;
}"""


@on_a_phone
@pytest.mark.parametrize("path", ["queries.html", "reproduce.html"])
def test_a_phone_breaks_no_option(visit, path):
    page = visit.open(path)
    assert page.evaluate(CUT) == []
    assert page.locator(".option").count() > 0


@on_a_phone
@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("index.html", ".answers"),
        ("claims/r1-thm5.html", ".badge.alert"),
        ("papers/r1smg2024.html", ".badge.alert"),
        ("mechanisms/r1smg.html", ".badge.alert"),
        ("mechanisms/index.html", "td .badge.good"),
        ("leaderboard/index.html", "td[data-label^=Best]"),
        ("failures.html", "td[data-label=Reason]"),
    ],
)
def test_the_verdict_is_on_the_first_screen_of_a_phone(visit, path, what):
    box = visit.open(path).locator(f"main {what}").first.bounding_box()
    assert box["y"] < PHONE["height"] and box["x"] + box["width"] <= PHONE["width"]


@pytest.mark.parametrize("path", ["queries.html", "mechanisms/index.html"])
def test_a_desktop_shows_every_column_and_the_answers_first(visit, path):
    page = visit.open(path)
    wide = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
    assert page.evaluate(f"{wide}.map(e => e.ariaLabel)") == []
    assert page.locator("td .badge, td .named").first.bounding_box()["y"] < DESKTOP["height"]


@on_a_phone
def test_a_phone_shows_the_navigation_on_demand(visit):
    page = visit.open("index.html")
    assert page.locator(".top").bounding_box()["height"] < 60
    claims = page.locator("nav >> text=Claims")
    assert not claims.is_visible()
    page.click("[data-menu]")
    assert claims.is_visible()
    boxes = page.locator(".tiles .row a, .top button, nav a").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect()).map(b => [b.width, b.height])"
    )
    assert len(boxes) > 100 and min(min(box) for box in boxes) >= 24


@without_script
def test_without_script_every_table_is_there(visit):
    page = visit.open("leaderboard/ranges.html")
    assert page.locator("section.view").count() == page.locator("section.view:visible").count() > 20


def query(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def test_filters_live_in_the_address_and_the_back_button_undoes_them(visit):
    page = visit.open("claims.html")
    shown = lambda: page.locator(".claim:not([hidden])").count()  # noqa: E731
    assert page.locator(".claim:visible").count() == 0
    everything = shown()
    page.select_option("form select >> nth=1", "contradicted")
    contradicted = shown()
    assert 0 < contradicted < everything
    assert page.locator(".claim:visible").count() == contradicted
    assert query(page) == {"verdict": "contradicted"}
    assert page.locator("[data-count]").inner_text().startswith(f"{contradicted} of {everything}")
    page.select_option("form select >> nth=0", "r1smg2024")
    both = shown()
    assert 0 < both < contradicted
    page.reload()
    assert shown() == both
    page.go_back()
    assert shown() == contradicted
    page.go_back()
    assert shown() == everything
    page.fill(".controls input", "no such words anywhere")
    assert shown() == 0
    page.click("text=Clear")
    assert shown() == everything


def test_a_permanent_link_wins_over_filters_that_hide_its_claim(visit):
    page = visit.open("claims.html")
    hidden = page.locator(".claim:not([data-verdict=confirmed])").first.get_attribute("id")
    page = visit.open(f"claims.html?verdict=confirmed#{hidden}")
    assert page.locator(f"#{hidden}").is_visible()
    assert "verdict" not in query(page)
    box = page.locator(f"#{hidden}").bounding_box()
    assert 0 <= box["y"] < DESKTOP["height"]


def test_tables_sort_by_number_and_the_address_keeps_the_order(visit):
    page = visit.open("data.html")
    column = page.locator("thead th", has_text="Records")

    def records():
        cells = page.locator("tbody td:nth-child(4)").all_inner_texts()
        return [int(cell.replace(",", "")) for cell in cells if cell]

    column.locator("button").click()
    assert column.get_attribute("aria-sort") == "ascending"
    assert records() == sorted(records())
    column.locator("button").click()
    assert records() == sorted(records(), reverse=True)
    page.reload()
    assert column.get_attribute("aria-sort") == "descending"
    assert records() == sorted(records(), reverse=True)
    page.go_back()
    assert column.get_attribute("aria-sort") == "ascending"


def test_the_leaderboard_shows_the_table_that_is_chosen(visit):
    page = visit.open("leaderboard/ranges.html")
    assert page.locator("section.view:visible").count() == 1
    assert "at equal true privacy" in page.locator("section.view:visible h2").inner_text()
    page.select_option("label:has-text('Calibration') select", "as published")
    page.select_option("label:has-text('Data') select", label="Uber map (official data)")
    page.select_option("label:has-text('Epsilon') select", "0.01")
    view = page.locator("section.view:visible")
    assert view.count() == 1
    assert view.get_attribute("id").startswith("linear_queries--uber-grid--")
    assert view.get_attribute("id").endswith("--published")
    values = [
        float(v)
        for v in page.eval_on_selector_all(
            "section.view:not([hidden]) tr:not(.control, .refuted) td:nth-child(2)[data-value]",
            "cells => cells.map(cell => cell.dataset.value)",
        )
    ]
    assert len(values) > 5 and values == sorted(values)
    assert "as published" in view.locator("h2").inner_text()
    assert "0.01" in view.locator("thead th.main").inner_text()
    # The address leads to the table, by the choices or by the table's name.
    chosen, address = view.get_attribute("id"), page.url
    for link in (address, f"{address.partition('?')[0]}#{chosen}"):
        page.goto("about:blank")
        page.goto(link)
        assert page.locator("section.view:visible").get_attribute("id") == chosen


def test_the_theme_lives_in_the_address_and_stays(visit):
    page = visit.open("index.html")

    def colour():
        # Wait for the body, which a page does not have while it loads.
        return page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")

    light = colour()
    page.click("[data-theme-switch]")
    dark = colour()
    assert dark != light and query(page) == {"theme": "dark"}
    page.click("nav >> text=Claims")
    page.wait_for_url("**/claims*")
    assert colour() == dark
    visit.open("index.html?theme=light")
    assert colour() == light


def test_downloads_hold_what_is_shown(visit):
    page = visit.open("leaderboard/counts.html")
    with page.expect_download() as loading:
        page.click("section.view:visible >> text=CSV of this table")
    rows = list(csv.reader(io.StringIO(Path(loading.value.path()).read_text(encoding="utf-8"))))
    view = page.locator("section.view:visible")
    assert len(rows) == 1 + view.locator("tbody tr").count()
    first = view.locator("tbody tr").first
    assert rows[1][0] == first.locator("th").inner_text().strip()
    assert rows[1][1] == first.locator("td").first.get_attribute("data-value")
