"""The contract by which studies pass public side information to mechanisms that use it."""

import pytest

from mechanisms import all_mechanisms, get_mechanism
from mechanisms.base import public_information
from mechanisms.base.public_information import (
    LAYER_SIZES,
    MEAN_RECORD,
    WORKLOAD,
    public_options,
)

KINDS = {value for name, value in vars(public_information).items() if name.isupper()}


@pytest.mark.parametrize("key", all_mechanisms())
def test_declarations_name_an_option_and_a_known_kind(key):
    declared = get_mechanism(key).public_information
    assert set(declared) <= set(get_mechanism(key).options)
    assert set(declared.values()) <= KINDS


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
