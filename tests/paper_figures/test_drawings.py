"""Every drawing, on a sample of the stored rows with an additional or a single mechanism."""

import functools
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from claims.judged_rows import LEVELS
from claims.markdown import markdown_table
from mechanisms import AdditiveMechanism, all_mechanisms
from paper_figures import drawings, pyplot
from paper_figures.drawings import (
    DrawingError,
    Drawn,
    all_drawings,
    draw,
    draw_or_explain,
    drawings_for,
    latex_table,
)
from paper_figures.legends import legend_below
from paper_figures.style import legend_order
from runs.cells import cells_of
from runs.config import read_config
from runs.results import Results, read_results

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
STORED = REFERENCE / "studies"
OTHER = "somebody-elses"
# The drawings about the mechanisms that they name.
NAMED = (
    *("suite_validity", "suite_implied_epsilon", "suite_metrics", "suite_panels"),
    *("mvg2018_fig4", "r1smg2024_table1", "tldp2025_table5"),
)
ADDITIVE = {key for key, cls in all_mechanisms().items() if issubclass(cls, AdditiveMechanism)}

pytestmark = pytest.mark.usefixtures("fast_limits", "few_draws")


@functools.cache
def sample(name):
    """The stored results that a drawing reads, limited to three trials."""
    results = read_results([STORED / file for file in all_drawings()[name].files])
    rows = results.rows[results.rows["trial"].isna() | (results.rows["trial"] < 3)]
    return Results(rows, results.timings, results.maps)


def each(results, change):
    """Apply `change` to every table of the results that has rows."""
    tables = (results.rows, results.timings, results.maps)
    return Results(*(table if table.empty else change(table) for table in tables))


def drawn_or_explained(name, results):
    """The drawing, or the DrawingError that it raises; any other exception is a defect."""
    try:
        return all_drawings()[name].function(results)
    except DrawingError as error:
        return error
    finally:
        plt.close("all")


def test_the_reference_run_has_the_data_for_every_drawing():
    cells = cells_of(read_config(ROOT / "config" / "reference.yaml"))
    available = {c.study for c in cells} | {f"{c.study}/{c.dataset}" for c in cells}
    assert set(drawings_for(available)) == set(all_drawings())
    assert all(len({*each.needs}) == len(each.needs) for each in all_drawings().values())


@pytest.mark.parametrize("name", [each for each in all_drawings() if re.search("_fig[0-9]", each)])
def test_the_room_of_a_paper_says_where_a_figure_is(name):
    drawing = all_drawings()[name]
    words = importlib.import_module(f"paper_figures.{drawing.paper}").__doc__
    assert re.search(rf"\b{drawing.module.split('.')[-1]}\b", words), words
    assert re.search(rf"Figures?\b.*\b{name.rsplit('fig', 1)[1]}\b", words), words


@pytest.mark.slow
@pytest.mark.parametrize("name", all_drawings())
def test_every_drawing_has_its_numbers_a_short_caption_and_a_new_mechanism(name):
    """The rows of the first additive mechanism of every study are repeated under another name."""

    def with_other(table):
        one = next(m for m in legend_order(table["mechanism"]) if m in ADDITIVE - set(LEVELS))
        return pd.concat([table, table[table["mechanism"] == one].assign(mechanism=OTHER)])

    drawing = all_drawings()[name]
    made = drawn_or_explained(name, each(sample(name), with_other))
    assert isinstance(made, Drawn), made
    assert (made.figure is None) == (drawing.kind == "tables")
    assert len(made.caption.split()) <= 70
    for text in (made.caption, made.note or "."):
        assert text == text.strip()
        assert text.endswith(".")
    # All stored values of the sampled trials, and possibly more.
    stored = pd.read_csv(REFERENCE / drawing.kind / f"{name}.csv")
    if "trial" in stored:
        stored = stored[stored["trial"] < 3]
    assert set(stored) <= set(made.data)
    assert len(made.data) >= len(stored) > 0
    # It has its own row or column, or appears in the title of a shared curve.
    assert (OTHER in made.data.to_csv()) == (name not in NAMED)


@pytest.mark.slow
@pytest.mark.parametrize("name", all_drawings())
def test_a_run_of_one_mechanism_is_drawn_or_explained(name):
    """Each study has rows of one additive mechanism, the Gaussian if possible."""

    def only_one(table):
        kept = []
        for _, own in table.groupby("study"):
            present = [m for m in legend_order(own["mechanism"]) if m in ADDITIVE - set(LEVELS)]
            one = "gaussian" if "gaussian" in present else present[0]
            kept.append(own[own["mechanism"] == one])
        return pd.concat(kept)

    made = drawn_or_explained(name, each(sample(name), only_one))
    if isinstance(made, Drawn):
        assert len(made.data) > 0
    else:
        assert len(str(made).split()) > 3


@pytest.mark.parametrize("name", all_drawings())
def test_results_without_rows_are_explained(name):
    nothing = each(sample(name), lambda table: table.iloc[:0])
    with pytest.raises(DrawingError):
        all_drawings()[name].function(nothing)


# A figure and a table.
NAMES = ("suite_validity", "suite_summary")
FILES = [
    "suite_validity.pdf",
    "suite_validity.png",
    "suite_validity.csv",
    "suite_validity.md",
    "suite_summary.csv",
    "suite_summary.md",
    "suite_summary.tex",
]


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(tmp_path):
    script = f"""
from pathlib import Path
from paper_figures.drawings import all_drawings, draw
for name in {NAMES}:
    draw(all_drawings()[name], Path({str(STORED)!r}), Path({str(tmp_path / "other")!r}))
"""
    # The order of sets of strings depends on the hash seed.
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    other = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, env=environment)
    for name in NAMES:
        draw(all_drawings()[name], STORED, tmp_path / "own")
    assert other.wait() == 0
    for folder in ("own", "other"):
        assert sorted(path.name for path in (tmp_path / folder).iterdir()) == sorted(FILES)
    for file in FILES:
        own, other = (tmp_path / folder / file for folder in ("own", "other"))
        assert own.read_bytes() == other.read_bytes(), file


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_drawn_says_why_in_every_file(name, tmp_path):
    drawing = all_drawings()[name]
    reason = draw_or_explain(drawing, tmp_path, tmp_path)
    assert reason == "the run has no guarantee.parquet"
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {file for file in FILES if file.startswith(f"{name}.")}
    assert reason in (tmp_path / f"{name}.md").read_text()
    assert reason in (tmp_path / f"{name}.csv").read_text()
    if drawing.kind == "tables":
        assert reason in (tmp_path / f"{name}.tex").read_text()


@pytest.mark.parametrize(("rows", "shown"), [(40, "| 39  |"), (41, "[All 41 rows](long.csv)")])
def test_a_long_table_is_read_in_its_csv(tmp_path, rows, shown):
    table = pd.DataFrame({"x": range(rows)})
    drawings.write_drawn("long", Drawn("Words.", table, note="More."), tmp_path)
    assert (tmp_path / "long.md").read_text().endswith(f"{shown}\n")
    assert drawings.words_of(tmp_path / "long.md") == ["Words.", "More."]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "long.csv"), table)


def test_special_characters_in_tables():
    table = pd.DataFrame({"a_b": ["50% & more", "P(x|y)"], "c": ["{x}^2", "~"]})
    lines = markdown_table(table).splitlines()
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == ["a_b", "c"]
    assert r"P(x\|y)" in lines[3]
    for given, shown in {
        "<img src=x>": r"\<img src=x>",
        "**bold** *a* _b_ a_b sigma* >= 1 [0, 1]": (
            r"\*\*bold\*\* \*a* \_b_ a_b sigma* >= 1 [0, 1]"
        ),
        "[a](http://b) ![c](d) [e][f]": r"[a\](http:<!-- -->//b) ![c\](d) [e\][f]",
        "`a` ~~b~~ &lt; a\\b $x$": r"\`a\` \~\~b\~\~ \&lt; a\\b \$x\$",
        "www.a.b": "www<!-- -->.a.b",
    }.items():
        lines = markdown_table(pd.DataFrame({given: [given]})).splitlines()
        assert [line.strip("| ") for line in (lines[0], lines[2])] == [shown] * 2
    kept = markdown_table(pd.DataFrame({"claim": ["[a](#a)"]}), markup=["claim"])
    assert "[a](#a)" in kept
    text = latex_table(table, "100% of a_b")
    assert r"\caption{100\% of a\_b}" in text
    assert r"a\_b & c" in text
    assert r"50\% \& more & \{x\}\textasciicircum 2" in text
    assert r"\textasciitilde" in text


def test_both_files_have_one_layout_with_legends_at_their_distance(tmp_path, monkeypatch):
    """A tall legend makes the layout shrink the axis; the distance below it stays."""
    places, save = [], plt.Figure.savefig

    def watched(figure, *given, **options):
        save(figure, *given, **options)
        places.append(figure.axes[0].get_position().bounds)

    monkeypatch.setattr(plt.Figure, "savefig", watched)
    monkeypatch.setattr(drawings, "stack_panels", lambda figure: False)
    figure, (axis, _) = pyplot.subplots(1, 2, figsize=(5, 3))
    for number in range(9):
        axis.plot([0, 1], [number, 1], label=f"curve {number}")
    axis.set_xlabel("x")
    legend_below(axis)
    drawings.write_drawn("both", Drawn("Words.", pd.DataFrame({"x": [1]}), figure), tmp_path)
    in_pdf, in_png = places
    assert in_pdf == in_png == axis.get_position().bounds
    assert axis.get_position().height < 0.5
    figure.draw_without_rendering()
    gap = axis.get_window_extent().y0 - axis.get_legend().get_window_extent().y1
    assert gap == pytest.approx(29 / 72 * figure.dpi, abs=1)
    label = axis.xaxis.label.get_window_extent()
    assert label.y0 > axis.get_legend().get_window_extent().y1


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("mine_fig1", "figures", "mine_fig1 must begin with suite_"),
        ("suite_fig1", "figure", "must be 'figures' or 'tables', got 'figure'"),
    ],
)
def test_a_drawing_needs_the_prefix_of_its_paper_and_a_known_kind(name, kind, message):
    def draws(results): ...

    draws.__module__ = "paper_figures.suite.mine"
    with pytest.raises(ValueError, match=message):
        drawings.drawing(name, kind=kind, needs=())(draws)
