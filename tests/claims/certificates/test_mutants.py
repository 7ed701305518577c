"""Certificates with one thing changed are refused."""

import copy
import json
from fractions import Fraction

import pytest

import check_certificate
from claims.certificates import FOLDER

NAMES = [
    "r1-thm5",
    "r1-dpsgd-private",
    "product-guarantee",
    "tldp-thm1",
    "tldp-thm3",
    "imgm-f1-budget",
    "guarantee-wishart",
    "guarantee-dawa-published",
    "guarantee-gaussian-analytic",
]


def first(name: str, index: int = 0) -> dict:
    return json.loads((FOLDER / f"{name}.json").read_text())["certificates"][index]


def places(value, path=()):
    """The paths of all numbers of a certificate."""
    for key, each in value.items():
        if isinstance(each, dict):
            yield from places(each, (*path, key))
        elif path:
            yield *path, key


def changed(certificate: dict, path: tuple, value) -> dict:
    mutant = copy.deepcopy(certificate)
    *groups, key = path
    group = mutant
    for each in groups:
        group = group[each]
    group[key] = value
    return mutant


def one_unit_up(text: str) -> str:
    """A bound, two units of its eighth digit above."""
    return str(Fraction(text) * (1 + Fraction(4, 10**7)))


def cases() -> dict[str, dict]:
    found = {}
    for name in NAMES:
        certificate = first(name)
        for path in places(certificate):
            label = f"{name}: {'/'.join(path)}"
            for wrong in ("NaN", "inf", "-1", "1e9999", "", "0x1", float("nan"), True, None, [1]):
                found[f"{label} = {wrong!r}"] = changed(certificate, path, wrong)
        for group in ("claim", "neighbours", "noise", "event", "bound"):
            found[f"{name}: no {group}"] = {k: v for k, v in certificate.items() if k != group}
            if certificate[group]:
                emptied = copy.deepcopy(certificate)
                emptied[group] = {"tau": "0.5", "size": "1"}
                found[f"{name}: another {group}"] = emptied
        ((kind, value),) = certificate["bound"].items()
        if kind != "delta_at_most":
            mutant = changed(
                certificate,
                ("bound", kind),
                one_unit_up(value)
                if name != "guarantee-dawa-published"
                else str(Fraction(value) * Fraction(10002, 10000)),
            )
            found[f"{name}: bound rounded up"] = mutant
            found[f"{name}: bound below the claim"] = changed(certificate, ("bound", kind), "1e-30")
            for other in {"delta_at_least", "epsilon_at_least", "delta_at_most"} - {kind}:
                mutant = copy.deepcopy(certificate)
                mutant["bound"] = {other: "1000" if other == "epsilon_at_least" else value}
                if not (name == "guarantee-wishart" and other == "epsilon_at_least"):
                    found[f"{name}: {other}"] = mutant
        else:
            smaller = str(Fraction(value) * Fraction(999, 1000))
            found[f"{name}: bound too small"] = changed(certificate, ("bound", kind), smaller)
            larger = str(Fraction(value) * Fraction(1001, 1000))
            found[f"{name}: bound above delta"] = changed(certificate, ("bound", kind), larger)
        for key, each in certificate["neighbours"].items():
            if isinstance(each, dict):
                too_far = str(Fraction(each["at_most"]) * Fraction(11, 10))
                if isinstance(each["is"], int):
                    too_far = each["at_most"] + 1
                found[f"{name}: {key} too far"] = changed(
                    certificate, ("neighbours", key, "is"), too_far
                )
        scale = Fraction(certificate["noise"]["scale"])
        for factor in (Fraction(99, 100), Fraction(101, 100), 1 + Fraction(1, 10**7)):
            mutant = changed(certificate, ("noise", "scale"), str(scale * factor))
            if len(mutant["noise"]["scale"]) < 60:
                found[f"{name}: scale times {factor}"] = mutant
        for key in ("epsilon", "delta"):
            group = "step" if "step" in certificate else "claim"
            value = Fraction(certificate[group][key])
            if value:
                found[f"{name}: twice the {key}"] = changed(
                    certificate, (group, key), str(2 * value)
                )
        unknown = changed(certificate, ("neighbours", "adjacency"), 1)
        found[f"{name}: an unknown field"] = unknown
        for other in ("r1smg", "product_noise", "tldp", "wishart", "dawa", "gaussian", "laplace"):
            if other != certificate["mechanism"]:
                found[f"{name}: as {other}"] = changed(certificate, ("mechanism",), other)
    thm5, product, dpsgd = first("r1-thm5"), first("product-guarantee"), first("r1-dpsgd-private")
    for tau in ("0", "1", "2", "0.9", "1e-12", "-0.00005"):
        found[f"r1-thm5: tau {tau}"] = changed(thm5, ("event", "tau"), tau)
        found[f"product: tau {tau}"] = changed(product, ("event", "tau"), tau)
    for m in (0, 1, 2, 3, -5, 7920, "7921", "7921.5"):
        found[f"r1-thm5: m {m!r}"] = changed(thm5, ("neighbours", "m"), m)
    for k in (999, 1001, "1000.1", 0):
        found[f"product: k {k}"] = changed(product, ("noise", "k"), k)
    for rate in ("0", "2", "-0.1", "1e-6", 2):
        found[f"dpsgd: rate {rate}"] = changed(dpsgd, ("step", "rate"), rate)
    without = copy.deepcopy(dpsgd)
    del without["step"]
    found["dpsgd: no step"] = without
    tldp = first("tldp-thm1", 1)
    for score in (0, -1, 300, 10**6, "2"):
        found[f"tldp: score {score}"] = changed(tldp, ("event", "score"), score)
    for cells in (0, -1, 10, "64"):
        found[f"tldp: cells {cells}"] = changed(tldp, ("event", "cells"), cells)
    found["tldp: Gaussian"] = changed(tldp, ("noise", "laplace"), 0)
    found["tldp: heavier weight"] = changed(tldp, ("noise", "weight"), "0.9")
    dawa = first("guarantee-dawa-published")
    for stride in (0, 1, 2, 700, -1, "1488"):
        found[f"dawa: stride {stride}"] = changed(dawa, ("neighbours", "stride"), stride)
    for start in (-1, 1488, "744"):
        found[f"dawa: start {start}"] = changed(dawa, ("neighbours", "start"), start)
    holds = first("guarantee-gaussian-analytic")
    found["holds: an event of its own"] = changed(holds, ("event", "z"), "-30")
    found["holds: for a spherical noise"] = thm5 | {"bound": {"delta_at_most": "9e-8"}}
    return found


CASES = cases()


def test_there_are_more_than_a_hundred():
    assert len(CASES) > 1000


@pytest.mark.parametrize("part", range(10))
def test_mutants_are_refused(part):
    accepted = []
    for label in sorted(CASES)[part::10]:
        try:
            check_certificate.check(copy.deepcopy(CASES[label]))
        except Exception:
            continue
        accepted.append(label)
    assert accepted == []


@pytest.mark.parametrize("name", NAMES)
def test_truncated_files_are_refused(name):
    text = (FOLDER / f"{name}.json").read_text()
    for length in range(0, len(text) - 3, max(1, len(text) // 20)):
        with pytest.raises(ValueError):
            json.loads(text[:length])
