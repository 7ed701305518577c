"""The charts of the first page, on drawn curves that a run may lack or name otherwise."""

import pandas as pd
import pytest

from site_builder.start_page import headline_charts

PRIVACY, COST = "true delta", "noise at equal true privacy"


def curve(title, panel):
    sizes = [4, 16]
    return pd.DataFrame(
        {"curve": title, "size": sizes, "value": 1e-6, "panel": panel, "epsilon": 1, "delta": 1e-5}
    )


class Drawn:
    def __init__(self, *curves):
        self.data = pd.concat(curves)


class Run:
    """A run with one mechanism and one headline figure."""

    def __init__(self, *curves):
        self.rows = {"guarantee": pd.DataFrame({"mechanism": ["r1smg"]})}
        self.drawings = {"suite_headline": Drawn(*curves)}


@pytest.mark.parametrize(
    ("panel", "title"),
    [(PRIVACY, "Is the claim true?"), (COST, "What does equal true privacy cost?")],
)
def test_a_panel_without_curves_is_left_out(panel, title):
    (shown,) = headline_charts(Run(curve("R1SMG", panel)))
    assert shown["title"] == title


def test_a_curve_of_a_mechanism_that_is_gone_has_a_look_of_its_own():
    curves = (curve("R1SMG", PRIVACY), curve("Gone = R1SMG", PRIVACY))
    (shown,) = headline_charts(Run(*curves))
    assert shown["chart"].legend == (("R1SMG", "r1smg"), ("Gone, R1SMG", "Gone"))
