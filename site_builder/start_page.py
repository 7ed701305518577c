"""The first page: three questions and their answers, the headline figure, where to go."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from claims.judged_rows import listed
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NOT_FOUND,
    NOT_RUN,
    PARTLY,
)
from mechanisms.comparison.advisor import leaders
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.selections import ok_rows
from paper_figures.style import look, mechanism_title
from paper_figures.suite.headline import FLOOR
from site_builder.charts import Chart, over_size
from site_builder.claim_pages import claims_by_paper
from site_builder.error_over_size import noise_by_size
from site_builder.run_folder import RunFolder
from site_builder.site_data import Page, SiteData
from site_builder.words import first_sentence
from studies.common_queries import QUERIES

# Noise of the five papers, and the noise that it is measured against.
PROPOSED = ("mvg", "mgm", "udn", "idn", "imgm", "r1smg", "tldp-l", "tldp-g")
REFERENCE = "gaussian-analytic"


@dataclass(frozen=True)
class Headline:
    """What a claim of the ledger shows.

    Args:
        claim: Its id.
        verdict: The verdict at which the words are true.
        words: What was found.
    """

    claim: str
    verdict: str
    words: str


# The rows of the matrix on this page; that of all mechanisms has the others too.
SHOWN = (*PROPOSED, "product-noise", "gaussian", REFERENCE, "laplace", "l2", "spherical-gamma")
_TOLD = {
    CONFIRMED: "are confirmed",
    PARTLY: "hold in part",
    DEPENDS: "depend on a choice that the paper leaves open",
    CONTRADICTED: "are contradicted",
    NOT_FOUND: "are not found",
    INCONCLUSIVE: "are inconclusive",
    NOT_RUN: "are not run",
}
R1SMG = Headline("r1-thm5", CONTRADICTED, "R1SMG is not private.")
TLDP = Headline("tldp-thm1", CONTRADICTED, "TLDP is not private for a whole tensor.")
IMGM = Headline("imgm-thm2", CONFIRMED, "IMGM is the analytic Gaussian mechanism.")


@dataclass(frozen=True)
class Found:
    """A finding as the page shows it: a headline, a sentence, and where it comes from."""

    headline: str
    sentence: str
    link: str
    source: str


def start_page(site: SiteData) -> Page:
    """The page."""
    return Page(
        path="index.html",
        template="start.html",
        title="Which noise is private, and which is best?",
        section="index.html",
        about="Are the privacy claims of matrix noise true, and which noise is best at equal "
        "true privacy? Every claim of the papers, computed.",
        content={
            "answers": answers(site),
            "findings": findings(site.run),
            "charts": headline_charts(site.run),
            "papers": claims_by_paper(site),
            "counts": site.run.verdict_counts,
            "matrix": site.matrix,
            "shown": [key for key in SHOWN if key in site.mechanisms],
            "queries": answered_queries(site),
        },
    )


def answers(site: SiteData) -> list[dict]:
    """The three questions with an answer of one sentence each."""
    counts, total = site.run.verdict_counts, len(site.run.claims)
    told = [f"{counts[verdict]} {words}" for verdict, words in _TOLD.items() if verdict in counts]
    lines = site.matrix.lines.values()
    false = [mechanism_title(line.key) for line in lines if line.private == "no"]
    best = _cheapest(site.run)
    found = {
        ("Do the numbers reproduce?", "reproduce"): f"Of {total} claims {listed(told)}.",
        ("Is it private?", "private"): f"Not as published: {listed(false)}." if false else "",
        ("What is best?", "best"): best.headline if best else "",
    }
    return [
        {"question": question, "section": section, "answer": answer}
        for (question, section), answer in found.items()
        if answer
    ]


def answered_queries(site: SiteData) -> list[dict]:
    """The best mechanism of every common query, and how far the analytic Gaussian is from it."""
    found = []
    for name, frame in site.answers.items():
        best = leaders(frame)
        gaussian = frame[(frame["mechanism"] == REFERENCE) & frame["rank"].notna()]
        found.append(
            {
                "name": name,
                "title": QUERIES[name].title,
                "best": [(key, None) for key in best["mechanism"]],
                "rmse": best["rmse"].min(),
                "budget": QUERIES[name].budget,
                "gaussian": gaussian["times_best"].min(),
            }
        )
    return found


def findings(run: RunFolder) -> list[Found]:
    """What was found, each backed by the ledger or computed from the rows."""
    ledger = run.claims.set_index("claim")
    parts = [_judged(R1SMG, ledger), _judged(TLDP, ledger), _waste(run)]
    parts += [_judged(IMGM, ledger), _cheapest(run)]
    return [part for part in parts if part is not None]


def _judged(each: Headline, ledger: pd.DataFrame) -> Found | None:
    """The headline with the claim's own words; None where the run has no such claim."""
    if each.claim not in ledger.index:
        return None
    claim = ledger.loc[each.claim]
    sentence = first_sentence(claim["sentence"])
    headline = each.words
    if claim["verdict"] != each.verdict:
        headline = f"{claim['statement']} In this run: {claim['verdict']}."
    return Found(headline, sentence, f"claims/{each.claim}.html", each.claim)


def _waste(run: RunFolder) -> Found | None:
    """How much more variance than needed the provably private proposals add."""
    if "guarantee" not in run.rows:
        return None
    rows = run.rows["guarantee"]
    rows = ok_rows(rows[rows["calibration"] == "published"], "guarantee", "wasted_variance")
    own = rows[(rows["dataset"] == "papers") & rows["mechanism"].isin(PROPOSED)]
    least = own.groupby("mechanism")["value"].min()
    wasteful = own[own["mechanism"].isin(least[least > 2].index)]
    if wasteful.empty:
        return None
    names = listed(mechanism_title(m) for m in PROPOSED if m in set(wasteful["mechanism"]))
    low, high = wasteful["value"].min(), wasteful["value"].max()
    drawn = "suite_summary" in run.drawings
    return Found(
        f"{names} are private and wasteful.",
        "At the settings of all the papers, not only their own, they add "
        f"{rounded_down(low)} to {rounded_up(high)} times the variance that their guarantees need.",
        "papers/suite.html#suite_summary" if drawn else "mechanisms/index.html",
        "summary of all guarantees",
    )


def _cheapest(run: RunFolder) -> Found | None:
    """Whether any proposed noise is smaller than the analytic Gaussian's at equal true privacy."""
    losses = noise_by_size(run)
    if losses is None:
        return None
    exact = losses[losses["calibration"] == "exact"]
    table = exact.pivot_table(index="size", columns="mechanism", values="value")
    if REFERENCE not in table:
        return None
    ours = [name for name in PROPOSED if name in table]
    smaller = [name for name in ours if (table[name] < table[REFERENCE] * (1 - 1e-6)).any()]
    sizes = f"{len(table)} sizes, from {table.index.min():,} to {table.index.max():,} elements"
    if smaller:
        names = listed(map(mechanism_title, smaller))
        headline = f"At equal true privacy {names} can beat the analytic Gaussian mechanism."
    else:
        headline = (
            "At equal true privacy no noise of the five papers beats the analytic Gaussian "
            "mechanism."
        )
    return Found(
        headline,
        f"The expected squared norm of the noise was compared at {sizes}. Noise made for a "
        "workload of linear queries does better.",
        "leaderboard/index.html",
        "leaderboard",
    )


def headline_charts(run: RunFolder) -> list[dict]:
    """The panels of the headline figure that the run has, from the numbers that it draws."""
    if "suite_headline" not in run.drawings:
        return []
    drawn = run.drawings["suite_headline"]
    rows = drawn.data.rename(columns={"curve": "label"})
    rows["mechanism"] = rows["label"].map(_first_mechanism(run))
    panels = {"true delta": _privacy_chart, "noise at equal true privacy": _cost_chart}
    return [
        chart_of(rows[rows["panel"] == panel])
        for panel, chart_of in panels.items()
        if panel in set(rows["panel"])
    ]


def _privacy_chart(rows: pd.DataFrame) -> dict:
    """The panel of true deltas with its title and its words."""
    delta, epsilon = rows["delta"].iloc[0], rows["epsilon"].iloc[0]
    chart = over_size(
        "headline-privacy",
        _points(rows),
        y_title=f"true delta at epsilon {epsilon:g}",
        description=f"True delta over the number of elements. A claim of {delta:g} is true on or "
        "below the line.",
        claim=float(delta),
        low=FLOOR,
    )
    words = (
        f"Every mechanism claims epsilon {epsilon:g} and a delta of {delta:g} or less. Its true "
        "delta must lie on or below the line."
    )
    return {"chart": chart, "title": "Is the claim true?", "words": words}


def _cost_chart(rows: pd.DataFrame) -> dict:
    """The panel of noise at equal true privacy with its title and its words."""
    chart = over_size(
        "headline-cost",
        _points(rows),
        y_title="noise per element",
        description="Root mean square noise per element over the number of elements, rescaled "
        "until the true delta is the claimed one.",
    )
    words = "Every noise is rescaled until its true delta is the claimed one. Lower is better."
    return {"chart": chart, "title": "What does equal true privacy cost?", "words": words}


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[["label", "mechanism", "size", "value"]].assign(
        label=rows["label"].str.replace(" = ", ", ", regex=False)
    )


def _first_mechanism(run: RunFolder) -> dict[str, str]:
    """From the label of a curve, "A = B", to the key of the first mechanism on it.

    A title that no mechanism of the rows has now, as of one that was removed, stands for its key.
    """
    keys = {
        look(name).title: name for rows in run.rows.values() for name in rows["mechanism"].unique()
    }
    drawn = run.drawings["suite_headline"].data["curve"].unique()
    titles = {curve: curve.split(" = ")[0] for curve in drawn}
    return {curve: keys.get(title, title) for curve, title in titles.items()}


def all_charts(content: dict) -> Iterator[Chart]:
    """The charts in what a template shows."""
    for value in content.values():
        if isinstance(value, Chart):
            yield value
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, dict) and isinstance(each.get("chart"), Chart):
                    yield each["chart"]
