"""Seeds depend on names alone."""

import pytest

from mechanisms import get_mechanism
from studies.base import Case, Point, Variant
from studies.base.seeds import seed_of

POINT = Point(shape=(2, 3), epsilon=0.5, delta=1e-5)


def case(mechanism="m", **changes):
    names = {"base_seed": 7, "study": "e", "dataset": "d"} | changes
    variant = Variant(name=mechanism, mechanism=get_mechanism("gaussian"))
    return Case(**names, settings=None, variant=variant)


@pytest.mark.parametrize(
    ("words", "seed"),
    [
        ((), 2858069222894195974),
        (("a",), 529978260370350907),
        ((7, "e", "d", "m", "2x3", 0.5, 0), 8825492797682600385),
    ],
)
def test_known_values(words, seed):
    """These values must never change, because published numbers depend on them."""
    assert seed_of(*words) == seed


def test_seeds_of_cells_have_known_values():
    """These must never change either. Seeds of trials do not depend on calibration and delta."""
    assert case().seed(POINT, 0) == 8825492797682600385
    assert case().shared_seed("split") == 1816999858222137090


def test_trials_epsilons_and_shapes_have_seeds_of_their_own():
    points = [
        Point(shape=shape, epsilon=epsilon, delta=1e-5)
        for shape in ((2, 3), (3, 2), (6,))
        for epsilon in (0.5, 1.0)
    ]
    seeds = {case().seed(point, trial) for point in points for trial in range(100)}
    assert len(seeds) == 600


def test_mechanisms_share_the_data_and_nothing_else():
    assert case(mechanism="n").shared_seed("split") == case().shared_seed("split")
    assert case(dataset="x").shared_seed("split") != case().shared_seed("split")


def test_names_that_are_not_json_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        seed_of(float("nan"))
    with pytest.raises(TypeError):
        seed_of(object())
