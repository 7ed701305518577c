"""The leaderboard: an overview and a page per family of queries."""

from collections.abc import Iterator

from site_builder.leaderboards import View
from site_builder.site_data import Page, SiteData
from studies.linear_queries import LinearQueries


def leaderboard_pages(site: SiteData) -> Iterator[Page]:
    """Yield the overview and a page for every family that the run has."""
    yield Page(
        path="leaderboard/index.html",
        template="leaderboard.html",
        title="Leaderboard",
        section="leaderboard/index.html",
        about="Which mechanism has the smallest error at equal true privacy, by kind of query.",
        content={},
    )
    for family, views in site.families:
        yield Page(
            path=f"leaderboard/{family.key}.html",
            template="family.html",
            title=f"{family.title}: leaderboard",
            section="leaderboard/index.html",
            about=f"{family.about} Mechanisms ranked at equal true privacy.",
            content={
                "family": family,
                "studies": dict.fromkeys(view.study.name for view in views),
                "views": views,
                "uses": _uses(views),
                "no_limit": _no_limit,
            },
        )


def _uses(views: list[View]) -> list[str]:
    """Explain the brackets after mechanisms that are ranked in several uses."""
    studies = {view.study.name: view.study for view in views if view.scores["use"].any()}
    every = (each for study in studies.values() for each in study.coordinates if each.is_use)
    # The rest of the meaning is about the column of the rows.
    return list(dict.fromkeys(f"{x.name} ({x.meaning.split('; ')[0]})" for x in every))


def _no_limit(view: View) -> str:
    """Return the reason why no limit is known for the errors of a table."""
    if view.study.name == LinearQueries.name:
        return "no bound known: the bound is for the elements, and this is a workload of them"
    if (view.study.name, view.measure.name) != ("count_query", "loss"):
        return "no bound known: the bound is for the squared error of a released answer itself"
    return "no bound known: the counts lie in a bounded range"
