"""The registry discovers mechanisms, which describe themselves and the public facts they use."""

import inspect

import pytest

from mechanisms import Mechanism, all_mechanisms, get_mechanism
from mechanisms.base import public_information
from mechanisms.base.mechanism import GUARANTEES
from mechanisms.base.public_information import (
    LAYER_SIZES,
    MEAN_RECORD,
    WORKLOAD,
    public_options,
)

KINDS = {value for name, value in vars(public_information).items() if name.isupper()}


@pytest.mark.parametrize("cls", all_mechanisms().values(), ids=lambda cls: cls.key)
def test_every_mechanism_states_what_it_is(cls):
    for name in ("key", "title", "paper", "theorem"):
        assert isinstance(getattr(cls, name), str)
        assert getattr(cls, name)
    assert cls.guarantee in GUARANTEES
    assert cls.__doc__ != Mechanism.__doc__
    assert inspect.getdoc(cls)
    for option in cls.options.values():
        assert option.accepts(option.default)
    assert set(cls.public_information) <= set(cls.options)
    assert set(cls.public_information.values()) <= KINDS


class Outside(Mechanism):
    """An incomplete mechanism, to which a test gives a guarantee."""

    key, title, paper, theorem = "outside", "Outside", "test", "none"

    @classmethod
    def build(cls, query, budget, calibration, settings):
        raise NotImplementedError

    def _release(self, value, rng):
        raise NotImplementedError


@pytest.mark.parametrize("guarantee", ["pure", "approximate", "certain"])
def test_a_class_outside_needs_a_known_guarantee(monkeypatch, guarantee):
    monkeypatch.setattr(Outside, "guarantee", guarantee, raising=False)
    name = f"{__name__}:Outside"
    if guarantee in GUARANTEES:
        assert get_mechanism(name) is Outside
    else:
        with pytest.raises(TypeError, match="'certain'; allowed are pure, "):
            get_mechanism(name)


def test_a_mechanism_gets_what_it_declares_and_nothing_else_is_computed():
    asked = []

    def known(kind, value):
        return lambda: asked.append(kind) or value

    offered = {MEAN_RECORD: known(MEAN_RECORD, "mean"), LAYER_SIZES: known(LAYER_SIZES, [2, 3])}
    assert public_options(get_mechanism("llagp"), offered) == {"layers": [2, 3]}
    assert public_options(get_mechanism("tldp-g-w"), offered) == {"weights": "mean"}
    assert public_options(get_mechanism("dphsgd"), offered) == {}
    # Its option `workload` is a matrix over rows and has another meaning.
    assert public_options(get_mechanism("udn"), offered | {WORKLOAD: known(WORKLOAD, 1)}) == {}
    assert asked == [LAYER_SIZES, MEAN_RECORD]
