"""The leaderboard: an overview and a page per family of queries."""

from collections.abc import Collection, Iterator

from datasets.titles import dataset_title
from paper_figures.selections import SOURCE_WORDS
from paper_figures.style import CALIBRATION_TITLES
from site_builder.leaderboards import View
from site_builder.site_data import Page, SiteData
from studies.base.families import Family
from studies.linear_queries import LinearQueries


def leaderboard_pages(site: SiteData) -> Iterator[Page]:
    """Yield the overview and a page for every family that the run has."""
    yield Page(
        path="leaderboard/index.html",
        template="leaderboard.html",
        title="Leaderboard",
        section="leaderboard/index.html",
        about="Which mechanism has the smallest error at equal true privacy, by kind of query.",
        content={
            "families": [
                {"family": family, "tables": len(views), "best": _overview(views, site.refuted)}
                for family, views in site.families
            ]
        },
    )
    for family, views in site.families:
        yield _family_page(family, views)


def _family_page(family: Family, views: list[View]) -> Page:
    return Page(
        path=f"leaderboard/{family.key}.html",
        template="family.html",
        title=f"{family.title}: leaderboard",
        section="leaderboard/index.html",
        about=f"{family.about} Mechanisms ranked at equal true privacy.",
        content={
            "family": family,
            "studies": dict.fromkeys(view.study.name for view in views),
            "views": [_view_entry(view) for view in views],
            "uses": _uses(views),
        },
    )


def _uses(views: list[View]) -> list[str]:
    """Explain the brackets after mechanisms that are ranked in several uses."""
    studies = {view.study.name: view.study for view in views if any(x.use for x in view.lines)}
    every = (each for study in studies.values() for each in study.coordinates if each.is_use)
    # The rest of the meaning is about the column of the rows.
    return list(dict.fromkeys(f"{x.name} ({x.meaning.split('; ')[0]})" for x in every))


def view_title(view: View) -> str:
    """Return the title of a table: its data, its choices and its measure."""
    data = ", ".join(filter(None, (dataset_title(view.dataset), view.named_choice)))
    return f"{data[0].upper()}{data[1:]}: {view.measure.heading}"


def _no_limit(view: View) -> str:
    """Return the reason why no limit is known for the errors of a table."""
    if view.study.name == LinearQueries.name:
        return "no bound known: the bound is for the elements, and this is a workload of them"
    if (view.study.name, view.measure.name) != ("count_query", "loss"):
        return "no bound known: the bound is for the squared error of a released answer itself"
    return "no bound known: the counts lie in a bounded range"


def _view_entry(view: View) -> dict:
    return {
        "no_limit": _no_limit(view),
        "view": view,
        "title": view_title(view),
        "data": f"{dataset_title(view.dataset)} ({SOURCE_WORDS[view.data_source]})",
        "calibration": CALIBRATION_TITLES[view.calibration],
        "blind": [epsilon for epsilon in view.epsilons if not view.tells_apart(epsilon)],
    }


def _overview(views: list[View], refuted: Collection[str]) -> list[dict]:
    """Return the best mechanisms at equal true privacy on every data set, by the main measure.

    Among ties, mechanisms whose published claim is refuted come last.
    """
    return [
        {
            "view": view,
            "data": dataset_title(view.dataset),
            "choice": view.named_choice,
            "best": [
                (key, view.best_mechanisms[key].title)
                for key in sorted(view.best_mechanisms, key=lambda key: key in refuted)
            ],
            "tells": view.tells_apart(view.main),
        }
        for view in views
        if view.is_main
    ]
