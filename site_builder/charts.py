"""Charts as Vega-Lite specifications, and as SVG for readers without JavaScript.

A chart has no colours of its own: `currentColor` and variables of the stylesheet follow the theme.
Rows carry the colour and the shape of their mechanism. The parameter `hidden` lists the labels that
the reader has switched off; the script of the page sets it.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import vl_convert
from markupsafe import Markup

from paper_figures.style import look
from site_builder.palette import colour_variable, resolved

VEGA_LITE = "6.4"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
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


def styled(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with the colour and the shape of their mechanism."""
    symbols = {
        name: SHAPES.get(look(name).marker, "circle") for name in frame["mechanism"].unique()
    }
    return frame.assign(
        colour=frame["mechanism"].map(colour_variable), symbol=frame["mechanism"].map(symbols)
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
    scale = {"type": "log", **({"domain": list(ends)} if claim else {"padding": 8})}
    encoding = {
        "x": _number(
            "size",
            title="number of elements M",
            scale={"type": "log", "nice": False, "padding": 10},
            axis=_powers_of_ten(rows["size"].min(), rows["size"].max()),
        ),
        "y": _number("value", title=y_title, scale=scale, axis=_powers_of_ten(*ends)),
        "color": COLOUR,
        "detail": [_name("label"), *([_name(dash)] if dash else [])],
    }
    dashes = {"strokeDash": _name(dash, legend=None, sort=DASHES)} if dash else {}
    hover = [
        _name("label", title="mechanism"),
        _number("size", title="elements M", format=","),
        _number("value", title=y_title, format=".4g"),
    ]
    layers = [
        _layer("line", encoding | dashes, strokeWidth=2, clip=True),
        _points(encoding, hover, size=45, clip=True),
    ]
    return _chart(name, [*_claimed(claim), *layers], description, rows)


def _claimed(claim: float | None) -> list[dict]:
    """The region above a claim, a line at it, and what the region means."""
    if claim is None:
        return []
    height = {"y": _number("claim")}
    words = {"align": "right", "baseline": "bottom", "dx": -6, "dy": -5, "fontSize": 12}
    marks = [
        ({"type": "rect", "color": "var(--alert)", "opacity": 0.08}, {"y2": {"field": "top"}}),
        ({"type": "rule", "color": "currentColor", "opacity": 0.6}, {}),
        (
            {"type": "text", "color": "var(--alert)", **words},
            {"x": {"value": "width"}, "text": {"value": "the claim is false"}},
        ),
    ]
    data = {"values": [{"claim": claim, "top": 1.0}]}
    return [{"data": data, "mark": mark, "encoding": height | more} for mark, more in marks]


def _power(n: int) -> str:
    if 0 <= n <= 3:
        return str(10**n)
    return "10" + str(n).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


# Numbers of an axis: powers of ten from 10^4 and up to 10^-4 by their exponent, as on other axes.
# Of what lies between two powers, short numbers are written as they are.
_EXPONENT = "round(log(datum.value) / LN10)"
_FAR = ",".join(f"'{n}':'{_power(n)}'" for n in range(-12, 13) if not -4 < n < 4)
PLAIN = (
    f"(datum.value > 0 && abs(datum.value / pow(10, {_EXPONENT}) - 1) < 1e-9 "
    f"&& ({{{_FAR}}})[toString({_EXPONENT})]) "
    "|| ((abs(datum.value) >= 1e5 || (datum.value != 0 && abs(datum.value) < 1e-3)) "
    "? format(datum.value, '.0e') : format(datum.value, '~g'))"
)
SHOWN_ONLY = "indexof(hidden, datum.label) < 0"
DASHES = ["as published", "at equal true privacy"]


def dots(name: str, frame: pd.DataFrame, *, logarithmic: bool, description: str) -> Chart:
    """One row per mechanism with its score and interval, the best at the top.

    Args:
        frame: Columns mechanism, label, value, low, high and rank.
    """
    rows = styled(frame)
    y = _name(
        "label",
        title=None,
        sort={"field": "rank", "order": "ascending"},
        axis={"labelLimit": 280, "minExtent": _widest(rows["label"]), "grid": True},
    )
    scaled = {"title": None, **_scaled(logarithmic, rows)}
    spans = {"x": _number("low", **scaled), "x2": {"field": "high"}, "y": y, "color": COLOUR}
    marks = {"x": _number("value", **scaled), "y": y, "color": COLOUR}
    hover = [_name("label", title="mechanism"), *SCORE_HOVER]
    layers = [_layer("rule", spans, strokeWidth=2), _points(marks, hover, size=60)]
    return _chart(name, layers, description, rows, height=ROW_HEIGHT * rows["label"].nunique())


def over_epsilon(name: str, frame: pd.DataFrame, *, logarithmic: bool, description: str) -> Chart:
    """Curves over epsilon with 95% intervals.

    Args:
        frame: Columns mechanism, label, epsilon, value, low and high.
    """
    rows = styled(frame)
    ticks = sorted(rows["epsilon"].unique())
    x = _number(
        "epsilon",
        title="epsilon",
        scale={"type": "log", "nice": False},
        axis={"labelExpr": PLAIN, "values": ticks, "labelOverlap": True, "grid": False},
    )
    scaled = {"title": None, **_scaled(logarithmic, rows)}
    spans = {"x": x, "y": _number("low", **scaled), "y2": {"field": "high"}, "color": COLOUR}
    marks = {"x": x, "y": _number("value", **scaled), "color": COLOUR}
    epsilon = _number("epsilon", title="epsilon", format=".4g")
    hover = [_name("label", title="mechanism"), epsilon, *SCORE_HOVER]
    layers = [
        _layer("rule", spans, strokeWidth=1.5, opacity=0.7),
        _layer("line", marks | {"detail": _name("label")}, strokeWidth=2),
        _points(marks, hover, size=45),
    ]
    return _chart(name, layers, description, rows)


def _number(field: str, **channel) -> dict:
    """A channel of numbers."""
    return {"field": field, "type": "quantitative", **channel}


def _name(field: str, **channel) -> dict:
    """A channel of names."""
    return {"field": field, "type": "nominal", **channel}


# Rows carry their colours and shapes: nothing is to be scaled.
COLOUR = _name("colour", scale=None)
SCORE_HOVER = (
    _number("value", title="value", format=".4g"),
    _number("low", title="95% from", format=".4g"),
    _number("high", title="to", format=".4g"),
)


def _layer(mark: str, encoding: dict, **look) -> dict:
    """A layer of the rows that the reader has not hidden."""
    return {
        "mark": {"type": mark, **look},
        "encoding": encoding,
        "transform": [{"filter": SHOWN_ONLY}],
    }


def _points(encoding: dict, hover: Sequence[dict], **look) -> dict:
    """Points in the shapes of the mechanisms, with their values on hover."""
    encoding = encoding | {"shape": _name("symbol", scale=None), "tooltip": list(hover)}
    return _layer("point", encoding, filled=True, opacity=1, **look)


def _powers_of_ten(low: float, high: float) -> dict:
    """An axis with at most seven ticks, all of them powers of ten."""
    powers = _powers(low, high)
    names = ",".join(f"'{n}':'{_power(n)}'" for n in powers)
    return {
        "values": [10.0**n for n in powers],
        "labelExpr": f"({{{names}}})[toString(round(log(datum.value)/LN10))]",
    }


def _powers(low: float, high: float) -> range:
    """At most seven whole numbers, evenly spaced, that cover two numbers' decimal logarithms."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / 6))
    return range(-step * (-first // step), last + 1, step)


def _scaled(logarithmic: bool, rows: pd.DataFrame) -> dict:
    """Scale and axis of scores; site.js has the same for the tables that a reader chooses."""
    axis = {
        "labelExpr": PLAIN,
        "tickCount": 5,
        "labelOverlap": True,
        "labelSeparation": 6,
        "grid": not logarithmic,
    }
    if not logarithmic:
        return {"scale": {"type": "linear", "zero": False}, "axis": axis}
    powers = _powers(rows["low"].min(), rows["high"].max())
    return {"scale": {"type": "log"}, "axis": axis | {"values": [10.0**n for n in powers]}}


def _widest(labels: pd.Series) -> int:
    """Pixels for the longest label in a wide font: that of the reader is not known."""
    return min(280, 7 * int(labels.str.len().max()))


def _records(frame: pd.DataFrame) -> list[dict]:
    """Rows as JSON data, with as many digits as a chart can show."""
    return json.loads(frame.to_json(orient="records", double_precision=15))


def _chart(
    name: str, layers: list[dict], description: str, rows: pd.DataFrame, height: int = HEIGHT
) -> Chart:
    spec = {
        "$schema": SCHEMA,
        "config": _CONFIG,
        "data": {"name": "rows", "values": _records(rows)},
        "width": WIDTH,
        "height": height,
        "padding": 4,
        "params": [{"name": "hidden", "value": []}],
        "layer": layers,
    }
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
