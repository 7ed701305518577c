"""The registry discovers mechanisms and requires that they describe themselves."""

import inspect

import pytest

from mechanisms import Mechanism, all_mechanisms, get_mechanism
from mechanisms.base.mechanism import GUARANTEES


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
        with pytest.raises(TypeError, match="a guarantee in"):
            get_mechanism(name)
