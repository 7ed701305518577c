"""Charts as Vega-Lite specifications made by Altair, and as SVG for readers without JavaScript.

A chart has no colours of its own: `currentColor` and variables of the stylesheet follow the theme.
Rows carry the colour and the shape of their mechanism. The parameter `hidden` lists the labels that
the reader has switched off; the script of the page sets it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd
import vl_convert
from markupsafe import Markup

from paper_figures.style import look
from site_builder.palette import colour_variable, resolved

VEGA_LITE = "6.4"
WIDTH, HEIGHT = 460, 300
# Fewer pixels between two rows of dots than this, and their names touch.
ROW_HEIGHT = 19
SHAPES = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "D": "diamond",
    "d": "diamond",
    "P": "cross",
    "X": "cross",
    "+": "cross",
    "x": "cross",
}
_TEXT = {"labelColor": "currentColor", "titleColor": "currentColor"}
_CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "mark": {"aria": False},
    "text": {"color": "currentColor"},
    "axis": {
        **_TEXT,
        "domainColor": "currentColor",
        "domainOpacity": 0.4,
        "tickColor": "currentColor",
        "tickOpacity": 0.4,
        "gridColor": "currentColor",
        "gridOpacity": 0.12,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
}


@dataclass(frozen=True)
class Chart:
    """A chart on a page.

    Args:
        name: Unique on its page; part of file names.
        spec: Vega-Lite.
        svg: The picture of it.
        description: What it shows, for readers who do not see it.
        legend: (label, mechanism) in the order of the legend.
        table: Anchor of the table with the same numbers, and of the download.
    """

    name: str
    spec: dict
    svg: str
    description: str
    legend: tuple[tuple[str, str], ...]

    @property
    def json(self) -> Markup:
        """The specification for a script element: nothing in it can end that element."""
        text = json.dumps(self.spec, separators=(",", ":"), sort_keys=True)
        return Markup(text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026"))

    @property
    def picture(self) -> Markup:
        """The SVG for a page: it scales, and a screen reader gets the description."""
        head, body = self.svg.split(">", 1)
        head = head.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)
        return Markup(f"{head}>{body}")

    def alone(self) -> str:
        """The SVG as a file, in the colours of the light theme."""
        return resolved(self.svg, [mechanism for _, mechanism in self.legend])


def styled(frame: pd.DataFrame, mechanism: str = "mechanism") -> pd.DataFrame:
    """Rows with the colour and the shape of their mechanism."""
    looks = {name: look(name) for name in frame[mechanism].unique()}
    return frame.assign(
        colour=frame[mechanism].map(colour_variable),
        symbol=frame[mechanism].map(lambda name: SHAPES.get(looks[name].marker, "circle")),
    )


def over_size(
    name: str,
    frame: pd.DataFrame,
    *,
    y_title: str,
    description: str,
    claim: float | None = None,
    dash: str | None = None,
    low: float | None = None,
) -> Chart:
    """Curves over the number of elements M, both axes logarithmic.

    With a claim, what lies above it is marked: there the claim is false.

    Args:
        frame: Columns mechanism, label, size and value; and `dash` where that is given.
        claim: A horizontal line at the claimed delta.
        dash: Column whose values tell dashed curves from solid ones.
        low: Lower end of the axis.
    """
    rows = styled(frame)
    ends = (low or rows["value"].min(), 1.0 if claim else rows["value"].max())
    scale = alt.Scale(type="log", domain=ends) if claim else alt.Scale(type="log", padding=8)
    hover = [
        alt.Tooltip("label:N", title="mechanism"),
        alt.Tooltip("size:Q", title="elements M", format=","),
        alt.Tooltip("value:Q", title=y_title, format=".4g"),
    ]
    base = alt.Chart(ROWS).transform_filter(SHOWN_ONLY)
    encoding = {
        "x": alt.X(
            "size:Q",
            title="number of elements M",
            scale=alt.Scale(type="log", nice=False, padding=10),
            axis=_powers_of_ten(rows["size"].min(), rows["size"].max()),
        ),
        "y": alt.Y("value:Q", title=y_title, scale=scale, axis=_powers_of_ten(*ends)),
        "color": alt.Color("colour:N", scale=None),
        "detail": alt.Detail(["label:N", *([f"{dash}:N"] if dash else [])]),
    }
    line = base.mark_line(strokeWidth=2, clip=True).encode(**encoding)
    if dash:
        line = line.encode(strokeDash=alt.StrokeDash(f"{dash}:N", legend=None, sort=DASHES))
    points = base.mark_point(filled=True, size=45, opacity=1, clip=True).encode(
        **encoding, shape=alt.Shape("symbol:N", scale=None), tooltip=hover
    )
    layers = [line, points]
    if claim is not None:
        mark = alt.Chart(alt.Data(values=[{"claim": claim, "top": 1.0}]))
        region = mark.mark_rect(color="var(--alert)", opacity=0.08).encode(y="claim:Q", y2="top:Q")
        rule = mark.mark_rule(color="currentColor", opacity=0.6).encode(y="claim:Q")
        words = mark.mark_text(
            align="right", baseline="bottom", dx=-6, dy=-5, color="var(--alert)", fontSize=12
        ).encode(x=alt.value("width"), y="claim:Q", text=alt.value("the claim is false"))
        layers = [region, rule, words, *layers]
    return _chart(name, alt.layer(*layers), description, rows)


# Numbers of an axis: short ones as they are, others with an exponent.
PLAIN = (
    "(abs(datum.value) >= 1e5 || (datum.value != 0 && abs(datum.value) < 1e-3)) "
    "? format(datum.value, '.0e') : format(datum.value, '~g')"
)
# The rows are put into the specification when it is made: Altair copies what it is given.
ROWS = alt.Data(name="rows")
SHOWN_ONLY = "indexof(hidden, datum.label) < 0"
DASHES = ["as published", "at equal true privacy"]


def dots(name: str, frame: pd.DataFrame, *, logarithmic: bool, description: str) -> Chart:
    """One row per mechanism with its score and interval, the best at the top.

    Args:
        frame: Columns mechanism, label, value, low, high and rank.
    """
    rows = styled(frame)
    base = alt.Chart(ROWS).transform_filter(SHOWN_ONLY)
    scale = _scale(logarithmic)
    y = alt.Y(
        "label:N",
        title=None,
        sort=alt.SortField("rank", order="ascending"),
        axis=alt.Axis(labelLimit=190, grid=True),
    )
    x_axis = alt.Axis(labelExpr=PLAIN, tickCount=5, labelOverlap=True, grid=not logarithmic)
    x = alt.X("value:Q", title=None, scale=scale, axis=x_axis)
    colour = alt.Color("colour:N", scale=None)
    hover = [
        alt.Tooltip("label:N", title="mechanism"),
        alt.Tooltip("value:Q", title="value", format=".4g"),
        alt.Tooltip("low:Q", title="95% from", format=".4g"),
        alt.Tooltip("high:Q", title="to", format=".4g"),
    ]
    spans = base.mark_rule(strokeWidth=2).encode(
        y=y, x=alt.X("low:Q", title=None, scale=scale, axis=x_axis), x2="high:Q", color=colour
    )
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=y, x=x, color=colour, shape=alt.Shape("symbol:N", scale=None), tooltip=hover
    )
    layers = alt.layer(spans, marks)
    return _chart(name, layers, description, rows, height=ROW_HEIGHT * rows["label"].nunique())


def over_epsilon(name: str, frame: pd.DataFrame, *, logarithmic: bool, description: str) -> Chart:
    """Curves over epsilon with 95% intervals.

    Args:
        frame: Columns mechanism, label, epsilon, value, low and high.
    """
    rows = styled(frame)
    base = alt.Chart(ROWS).transform_filter(SHOWN_ONLY)
    scale = _scale(logarithmic)
    axis = alt.Axis(labelExpr=PLAIN, tickCount=5, grid=not logarithmic)
    x = alt.X(
        "epsilon:Q",
        title="epsilon",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(
            labelExpr=PLAIN, values=sorted(rows["epsilon"].unique()), labelOverlap=True, grid=False
        ),
    )
    y = alt.Y("value:Q", title=None, scale=scale, axis=axis)
    colour = alt.Color("colour:N", scale=None)
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, detail="label:N")
    spans = base.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
        x=x, y=alt.Y("low:Q", title=None, scale=scale, axis=axis), y2="high:Q", color=colour
    )
    marks = base.mark_point(filled=True, size=45, opacity=1).encode(
        x=x,
        y=y,
        color=colour,
        shape=alt.Shape("symbol:N", scale=None),
        tooltip=[
            alt.Tooltip("label:N", title="mechanism"),
            alt.Tooltip("epsilon:Q", title="epsilon", format=".4g"),
            alt.Tooltip("value:Q", title="value", format=".4g"),
            alt.Tooltip("low:Q", title="95% from", format=".4g"),
            alt.Tooltip("high:Q", title="to", format=".4g"),
        ],
    )
    return _chart(name, alt.layer(spans, line, marks), description, rows)


def _powers_of_ten(low: float, high: float) -> alt.Axis:
    """An axis with at most seven ticks, all of them powers of ten."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / 6))
    powers = range(-step * (-first // step), last + 1, step)
    names = ",".join(f"'{n}':'{_power(n)}'" for n in powers)
    return alt.Axis(
        values=[10.0**n for n in powers],
        labelExpr=f"({{{names}}})[toString(round(log(datum.value)/LN10))]",
    )


def _power(n: int) -> str:
    if 0 <= n <= 3:
        return str(10**n)
    return "10" + str(n).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _scale(logarithmic: bool) -> alt.Scale:
    return alt.Scale(type="log") if logarithmic else alt.Scale(type="linear", zero=False)


def _records(frame: pd.DataFrame) -> list[dict]:
    """Rows as JSON data, with as many digits as a chart can show."""
    return json.loads(frame.to_json(orient="records", double_precision=15))


def _chart(
    name: str, layers: alt.LayerChart, description: str, rows: pd.DataFrame, height: int = HEIGHT
) -> Chart:
    drawn = layers.properties(width=WIDTH, height=height).add_params(
        alt.param(name="hidden", value=[])
    )
    # Checked against the schema in a test: it takes longer than all else.
    spec = drawn.to_dict(validate=False)
    spec |= {"config": _CONFIG, "padding": 4, "data": {"name": "rows", "values": _records(rows)}}
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    # The ids of clip paths count the charts of the process: here they count those of the chart.
    ids = dict.fromkeys(re.findall(r'id="(clip\d+)"', svg))
    numbers = {name: str(number) for number, name in enumerate(ids)}
    svg = re.sub(r"\bclip\d+\b", lambda found: f"{name}-clip-{numbers[found[0]]}", svg)
    pairs = rows[["label", "mechanism"]].drop_duplicates()
    return Chart(name, spec, svg, description, tuple(pairs.itertuples(index=False, name=None)))


def script_bundle() -> str:
    """Vega, Vega-Lite and vega-embed in one script; it declares global constants."""
    return vl_convert.javascript_bundle(vl_version=VEGA_LITE)


def legend_order(labels: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(label, mechanism) pairs without repeats, in their order."""
    return list(dict.fromkeys(labels))
