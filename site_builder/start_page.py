"""The first page: three questions with their answers, findings, the main figure, and links."""

import pandas as pd

from claims.judged_rows import listed
from claims.verdicts import CONFIRMED, CONTRADICTED, DEPENDS, PARTLY
from mechanisms.comparison.advisor import leaders
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.style import mechanism_title
from paper_figures.suite.metrics import PROPOSED
from site_builder.claim_pages import claims_by_paper
from site_builder.site_data import Page, SiteData
from site_builder.words import first_sentence
from studies.common_queries import QUERIES

# The mechanism with which those of the five papers are compared.
REFERENCE = "gaussian-analytic"
# The rows of the table of mechanisms on this page; the page of all mechanisms has every row.
SHOWN = (*PROPOSED, "product-noise", "gaussian", REFERENCE, "laplace", "l2", "spherical-gamma")
# The phrases for verdicts after a count of claims, in place of "are VERDICT".
_TOLD = {PARTLY: "hold in part", DEPENDS: "depend on a choice that the paper leaves open"}
# Headlines that rest on a claim, by its id, each with the verdict for which the headline is true.
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
    """Return the questions that the run answers, each with an answer of one sentence."""
    counts = site.verdict_counts.items()
    told = [f"{count} {_TOLD.get(verdict, f'are {verdict}')}" for verdict, count in counts]
    # The ledger also has claims of papers whose mechanisms are only compared here.
    five = {site.mechanisms[key].paper for key in PROPOSED}
    own = site.claims["paper"].isin(five)
    judged = f"{own.sum()} claims of the five papers and {(~own).sum()} of others"
    false = [mechanism_title(key) for key in site.mechanisms if key in site.refuted]
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
    """Return the best mechanisms for each common query, and how far the analytic Gaussian is."""
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
    """Return the findings, which rest on the ledger or are computed from the rows.

    A finding has a headline, a sentence, a source and a link to the source.
    """
    r1smg, tldp, imgm = (_judged_finding(claim, site.claims) for claim in HEADLINES)
    return [part for part in (r1smg, tldp, _waste(site), imgm, _cheapest(site)) if part is not None]


def _judged_finding(name: str, ledger: pd.DataFrame) -> dict | None:
    """Return the finding that rests on a claim; None if the ledger lacks the claim."""
    own = ledger[ledger["claim"] == name]
    if own.empty:
        return None
    claim, (verdict, headline) = own.iloc[0], HEADLINES[name]
    sentence = first_sentence(claim["sentence"])
    if claim["verdict"] == CONTRADICTED:
        # The reason has the strongest objection, and why it does not help.
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
    """Return the finding on proposals that add more than twice the variance that they need.

    Return None if there are no such proposals.
    """
    waste = {key: site.matrix.lines[key].waste for key in PROPOSED}
    wasteful = {key: ends for key, ends in waste.items() if ends[0] > 2}
    if not wasteful:
        return None
    names = listed(map(mechanism_title, wasteful))
    low, high = min(wasteful.values())[0], max(ends[1] for ends in wasteful.values())
    drawn = "suite_summary" in site.drawings
    return {
        "headline": f"{names} {'are' if ' and ' in names else 'is'} private and wasteful.",
        "sentence": "At the settings of all the papers, not only their own, they add "
        f"{rounded_down(low)} to {rounded_up(high)} times the variance that their guarantees need.",
        "link": "papers/suite.html#suite_summary" if drawn else "mechanisms/index.html",
        "source": "summary of all guarantees",
    }


def _cheapest(site: SiteData) -> dict | None:
    """Return the finding on whether any proposed noise beats the analytic Gaussian.

    Return None if the run lacks the noise of one of them.
    """
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
