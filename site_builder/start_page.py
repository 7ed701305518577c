"""The first page: three questions and their answers, the headline figure, and links."""

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
from paper_figures.style import mechanism_title
from site_builder.claim_pages import claims_by_paper
from site_builder.site_data import Page, SiteData
from site_builder.words import first_sentence
from studies.common_queries import QUERIES

# The mechanisms of the five papers, and the one that they are compared with.
PROPOSED = ("mvg", "mgm", "udn", "idn", "imgm", "r1smg", "tldp-l", "tldp-g")
REFERENCE = "gaussian-analytic"
# The rows of the matrix on this page; the page of all mechanisms has the others as well.
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
# Headlines that rest on a claim, by its id, each with the verdict under which it is true.
HEADLINES = {
    "r1-thm5": (CONTRADICTED, "R1SMG is not private."),
    "tldp-thm1": (CONTRADICTED, "TLDP is not private for a whole tensor."),
    "imgm-thm2": (CONFIRMED, "IMGM is the analytic Gaussian mechanism."),
}


def start_page(site: SiteData) -> Page:
    """Make the first page."""
    return Page(
        path="index.html",
        template="start.html",
        title="Which noise is private, and which is best?",
        section="index.html",
        about="Are the privacy claims of matrix noise true, and which noise is best at equal "
        "true privacy? Every claim of the papers, computed.",
        content={
            "answers": answers(site),
            "findings": findings(site),
            "headline": site.drawings.get("suite_headline"),
            "papers": claims_by_paper(site),
            "shown": [key for key in SHOWN if key in site.mechanisms],
            "queries": answered_queries(site),
        },
    )


def answers(site: SiteData) -> list[dict]:
    """Return the three questions, each with an answer of one sentence."""
    counts = site.verdict_counts
    told = [f"{counts[verdict]} {words}" for verdict, words in _TOLD.items() if verdict in counts]
    # The ledger also has claims of papers whose mechanisms are only compared here.
    five = {site.mechanisms[key].paper for key in PROPOSED}
    own = site.claims["paper"].isin(five)
    judged = f"{own.sum()} claims of the five papers and {(~own).sum()} of others"
    lines = site.matrix.lines.items()
    false = [mechanism_title(key) for key, line in lines if line.private == "no"]
    best = _cheapest(site)
    found = (
        ("Do the numbers reproduce?", "reproduce", f"{judged}: {listed(told)}."),
        ("Is it private?", "private", f"Not as published: {listed(false)}." if false else ""),
        ("What is best?", "best", best["headline"] if best else ""),
    )
    return [
        {"question": question, "section": section, "answer": answer}
        for question, section, answer in found
        if answer
    ]


def answered_queries(site: SiteData) -> list[dict]:
    """Return the best mechanisms for every common query, and the analytic Gaussian's distance."""
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


def findings(site: SiteData) -> list[dict]:
    """Return the findings, each backed by the ledger or computed from the rows.

    A finding has a headline, a sentence, and where it comes from.
    """
    r1smg, tldp, imgm = (_judged_finding(claim, site.claims) for claim in HEADLINES)
    return [part for part in (r1smg, tldp, _waste(site), imgm, _cheapest(site)) if part is not None]


def _judged_finding(name: str, ledger: pd.DataFrame) -> dict | None:
    """Return a headline with the claim's explanation; None if the run lacks the claim."""
    own = ledger[ledger["claim"] == name]
    if own.empty:
        return None
    claim, (verdict, headline) = own.iloc[0], HEADLINES[name]
    sentence = first_sentence(claim["sentence"])
    if claim["verdict"] == CONTRADICTED:
        # Add the strongest objection and why it does not help.
        sentence += f" {first_sentence(claim['reason'])}"
    if claim["verdict"] != verdict:
        headline = f"{claim['statement']} In this run: {claim['verdict']}."
    return {
        "headline": headline,
        "sentence": sentence,
        "link": f"claims/{name}.html",
        "source": name,
    }


def _waste(site: SiteData) -> dict | None:
    """Return the finding on how much more variance than needed the private proposals add."""
    own = site.settings[site.settings["mechanism"].isin(PROPOSED)]
    least = own.groupby("mechanism")["wasted_variance"].min()
    wasteful = own[own["mechanism"].isin(least[least > 2].index)]
    if wasteful.empty:
        return None
    names = listed(mechanism_title(m) for m in PROPOSED if m in set(wasteful["mechanism"]))
    low, high = wasteful["wasted_variance"].min(), wasteful["wasted_variance"].max()
    drawn = "suite_summary" in site.drawings
    return {
        "headline": f"{names} {'are' if ' and ' in names else 'is'} private and wasteful.",
        "sentence": "At the settings of all the papers, not only their own, they add "
        f"{rounded_down(low)} to {rounded_up(high)} times the variance that their guarantees need.",
        "link": "papers/suite.html#suite_summary" if drawn else "mechanisms/index.html",
        "source": "summary of all guarantees",
    }


def _cheapest(site: SiteData) -> dict | None:
    """Return the finding on whether any proposed noise beats the analytic Gaussian."""
    exact = site.noise[site.noise["calibration"] == "exact"]
    table = exact.pivot_table(index="size", columns="mechanism", values="value")
    if not {REFERENCE, *PROPOSED} <= {*table}:
        return None
    smaller = [name for name in PROPOSED if (table[name] < table[REFERENCE] * (1 - 1e-6)).any()]
    headline = (
        "At equal true privacy no noise of the five papers beats the analytic Gaussian mechanism."
    )
    if smaller:
        names = listed(map(mechanism_title, smaller))
        headline = f"At equal true privacy {names} can beat the analytic Gaussian mechanism."
    sizes = f"{len(table)} sizes, from {table.index.min():,} to {table.index.max():,} elements"
    return {
        "headline": headline,
        "sentence": f"The expected squared norm of the noise was compared at {sizes}, with each "
        "noise where it can be calibrated. Noise made for a workload of linear queries does "
        "better.",
        "link": "leaderboard/index.html",
        "source": "leaderboard",
    }
