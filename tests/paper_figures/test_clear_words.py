"""Text in a panel is placed where it hides no line."""

import pytest

from paper_figures import pyplot as plt
from paper_figures.clear_words import Place, write_clear

TOP, BOTTOM = Place(0.5, 0.9, "center", "top"), Place(0.5, 0.1, "center")


@pytest.fixture
def axis():
    axis = plt.subplots(figsize=(4, 3))[1]
    axis.set(xlim=(0, 1), ylim=(0, 1))
    return axis


def place_of(axis, places, words="some words"):
    write_clear(axis, words, places)
    return axis.texts[-1].get_position()


def test_the_first_place_is_taken_where_nothing_is_hidden(axis):
    axis.plot([0, 1], [0.5, 0.5])
    assert place_of(axis, (TOP, BOTTOM)) == (0.5, 0.9)


@pytest.mark.parametrize("height", [0.86, 0.88])
def test_words_stand_on_no_curve_and_on_no_level(axis, height):
    axis.plot([0, 1], [height, height])
    assert place_of(axis, (TOP, BOTTOM)) == (0.5, 0.1)
    axis.lines[0].remove()
    axis.axhline(height)
    axis.texts[0].remove()
    assert place_of(axis, (TOP, BOTTOM)) == (0.5, 0.1)


def test_words_stand_on_no_other_words_and_inside_the_panel(axis):
    assert place_of(axis, (TOP, BOTTOM)) == (0.5, 0.9)
    assert place_of(axis, (TOP, BOTTOM)) == (0.5, 0.1)
    outside = Place(0.02, 0.5, "right")
    assert place_of(axis, (outside, Place(0.5, 0.5))) == (0.5, 0.5)


def test_the_last_place_is_taken_where_all_hide_something(axis):
    axis.plot([0, 1, 1, 0], [0.15, 0.15, 0.85, 0.85])
    assert place_of(axis, (TOP, BOTTOM)) == (0.5, 0.1)
