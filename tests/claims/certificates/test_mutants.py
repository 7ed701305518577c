"""The checker refuses certificates with one thing changed."""

import copy
import json
from fractions import Fraction

import pytest

import check_certificate
from claims.certificates import FOLDER

REMOVED = object()
# One certificate of every kind that is quick to check: the file and its certificate.
BASES = {
    "r1smg": ("r1-thm5", 4),
    "r1smg step": ("r1-dpsgd-private", 0),
    "product": ("product-guarantee", 5),
    "tldp laplace": ("tldp-thm1", 1),
    "tldp gaussian": ("tldp-thm1", 4),
    "tldp weighted": ("tldp-thm3", 1),
    "batch": ("imgm-f1-budget", 0),
    "sample": ("imgm-f1-budget", 17),
    "wishart": ("guarantee-wishart", 0),
    "dawa": ("guarantee-dawa-published", 9),
    "gaussian": ("guarantee-gaussian-analytic", 0),
    "norm": ("guarantee-laplace", 0),
}
MECHANISMS = ("r1smg", "product_noise", "tldp", "wishart", "dawa", "gaussian", "norm_noise", "none")
GROUPS = {"claim", "step", "neighbours", "noise", "event", "bound"}
NO_NUMBERS = ("NaN", "inf", "-1", "1e9999", "", "0x1", float("nan"), 0.5, True, None, [1], {})
# Factors by which a bound must not grow: bounds have eight digits, those on epsilon have five.
ABOVE = {"delta_at_least": 1 + Fraction(4, 10**7), "epsilon_at_least": Fraction(1001, 1000)}


def changed(certificate: dict, path: tuple, value: object) -> dict:
    mutant = copy.deepcopy(certificate)
    *groups, key = path
    group = mutant
    for each in groups:
        group = group[each]
    if value is REMOVED:
        del group[key]
    else:
        group[key] = value
    return mutant


def base(name: str) -> dict:
    file, index = BASES[name]
    return json.loads((FOLDER / f"{file}.json").read_text())["certificates"][index]


def numbers(value: dict, path=()):
    """The paths of all numbers of a certificate."""
    for key, each in value.items():
        if isinstance(each, dict):
            yield from numbers(each, (*path, key))
        elif path:
            yield *path, key


def mutants(certificate: dict):
    """Changed certificates, each of which is false or unknown to the checker."""
    for path in numbers(certificate):
        for wrong in NO_NUMBERS:
            yield changed(certificate, path, wrong)
        yield changed(certificate, path, REMOVED)
    for group in GROUPS & certificate.keys():
        yield changed(certificate, (group,), REMOVED)
        yield changed(certificate, (group, "adjacency"), 1)
    yield certificate | {"adjacency": 1}
    yield changed(certificate, ("setting",), REMOVED) | {"adjacency": "replace"}
    for mechanism in set(MECHANISMS) - {certificate["mechanism"]}:
        yield changed(certificate, ("mechanism",), mechanism)
    for key, each in certificate["neighbours"].items():
        if isinstance(each, dict):
            yield changed(
                certificate, ("neighbours", key, "is"), f"{Fraction(each['at_most']) + 1}"
            )
    yield from other_numbers(certificate)


def other_numbers(certificate: dict):
    """The certificate with another scale, claim or bound."""
    scale = Fraction(certificate["noise"]["scale"])
    for factor in (Fraction(99, 100), Fraction(101, 100), 1 + Fraction(1, 10**7)):
        yield changed(certificate, ("noise", "scale"), str(scale * factor))
    group = "step" if "step" in certificate else "claim"
    for key in ("epsilon", "delta"):
        value = Fraction(certificate[group][key])
        if value:
            yield changed(certificate, (group, key), str(2 * value))
    ((kind, value),) = certificate["bound"].items()
    if kind == "delta_at_most":
        yield changed(certificate, ("bound", kind), str(Fraction(value) - Fraction(1, 10**6)))
        yield changed(certificate, ("bound", kind), str(Fraction(value) + Fraction(1, 10**6)))
    else:
        yield changed(certificate, ("bound", kind), str(Fraction(value) * ABOVE[kind]))
    for other in {*ABOVE, "delta_at_most", "delta_above"} - {kind}:
        yield certificate | {"bound": {other: value}}
        yield certificate | {"bound": {kind: value, other: value}}


def accepted(cases) -> list[dict]:
    found = []
    for case in cases:
        try:
            check_certificate.check(copy.deepcopy(case))
        except Exception:
            continue
        found.append(case)
    return found


@pytest.mark.parametrize("name", BASES)
def test_mutants_are_refused(name):
    assert accepted([base(name)])
    cases = [case for case in mutants(base(name)) if case != base(name)]
    assert len(cases) > 80
    assert accepted(cases) == []


@pytest.mark.parametrize(
    ("name", "path", "values"),
    [
        ("r1smg", ("event", "tau"), ("0", "1", "2", "0.9", "1e-12")),
        ("r1smg", ("neighbours", "m"), (0, 1, 2, 3, 5, "4", "4.5")),
        ("product", ("event", "tau"), ("0", "1", "2", "0.99", "1e-12")),
        ("product", ("noise", "k"), (999, 1001, "1000.1", 0)),
        ("r1smg step", ("step", "rate"), ("0", "2", "-0.1", "1e-6", 2)),
        ("tldp laplace", ("event", "score"), (0, -1, 300, 10**6, "2")),
        ("tldp laplace", ("event", "cells"), (0, -1, 10, "64")),
        ("tldp laplace", ("noise", "laplace"), (0,)),
        ("tldp laplace", ("noise", "weight"), ("0.9", "1", "-0.1")),
        ("tldp gaussian", ("event", "z"), ("-1", "3", "0")),
        ("tldp gaussian", ("noise", "laplace"), (1,)),
        ("dawa", ("neighbours", "stride"), (0, 1, 3, 700, -1, "2")),
        ("dawa", ("neighbours", "start"), (-1, 784, "392")),
        ("gaussian", ("event", "z"), ("-30", "0.4")),
    ],
)
def test_other_events_and_parameters_are_refused(name, path, values):
    assert accepted(changed(base(name), path, value) for value in values) == []


def test_a_delta_of_one_or_more_is_no_claim():
    vacuous = changed(base("norm"), ("claim", "delta"), "5")
    assert accepted([changed(vacuous, ("bound", "delta_at_most"), "5")]) == []
