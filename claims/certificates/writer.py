"""Choose the settings of the certificates, and write the files.

The settings come from the claims and from the study guarantee; the verdicts of that study in the
reference run say which of them to certify. The budgets of the limits are those of the table in
docs/the_limit.md.
"""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from claims.certificates import FOLDER
from claims.certificates.noises import (
    Certificate,
    dawa,
    gaussian_holds,
    imgm_batch,
    norm_noise,
    product_noise,
    r1smg,
    tldp,
    wishart,
)
from claims.claim import all_claims
from mechanisms import Budget, Query, get_mechanism
from mechanisms.limit.certificate import limit_certificate
from mechanisms.query.box_query import box_query
from papers.r1smg2024 import GRADIENT
from papers.setting import PaperSetting
from papers.settings import PAPER_SETTINGS

File = tuple[str, list[str], list[Certificate]]
# The verdicts of the study guarantee in the reference run.
VERDICTS = FOLDER.parent / "tables" / "suite_verdicts.csv"
# If the claim of such a mechanism holds, its noise is the least Gaussian noise that is private.
OPTIMAL_GAUSSIAN = ("gaussian-analytic", "imgm", "llagp", "dphsgd")
# The folder, the numbers of elements and the budgets of the certified limits.
LIMITS = FOLDER / "limits"
SIZES = (1, 2, 3, 5, 10, 100, 1000)
BUDGETS = [(epsilon, 1e-5) for epsilon in (0.1, 1.0, 5.0)]


def settings_with(key: str, verdict: str = "refuted") -> list[PaperSetting]:
    """Return the papers' settings at which the study guarantee gives a mechanism this verdict."""
    table = pd.read_csv(VERDICTS)
    names = set(table[(table["mechanism"] == key) & (table["verdict"] == verdict)]["setting"])
    return [setting for setting in PAPER_SETTINGS if setting.name in names]


def files() -> Iterator[File]:
    """Yield the name, the claims and the certificates of every file."""
    arguments = {claim.id: claim.arguments for claim in all_claims()}
    yield from _spherical_files(arguments)
    yield from _tensor_files(arguments)
    yield _batch_file(arguments["imgm-f1-budget"])
    for key, make in (("wishart", wishart), ("dawa-published", dawa)):
        yield _study_file(key, [make(s.name, s.query, _pure(s)) for s in settings_with(key)])
    for key in OPTIMAL_GAUSSIAN:
        made = [gaussian_holds(s.name, s.budget) for s in settings_with(key, "holds")]
        yield _study_file(key, made, "imgm-thm2" if key == "imgm" else "")
    for key, norm in (("laplace", "l1_sensitivity"), ("l2", "l2_sensitivity")):
        made = [
            norm_noise(s.name, getattr(s.query, norm), _pure(s))
            for s in settings_with(key, "holds")
        ]
        yield _study_file(key, made)


def _study_file(key: str, certificates: list[Certificate], claim: str = "") -> File:
    """Return the file for a mechanism of the study guarantee, and for a claim that it decides."""
    name = f"guarantee/{key}"
    return name.replace("/", "-"), [name, *filter(None, [claim])], certificates


def _pure(setting: PaperSetting) -> Budget:
    return Budget(epsilon=setting.budget.epsilon)


def _spherical_files(arguments: dict[str, Any]) -> Iterator[File]:
    theorem = get_mechanism("r1smg")
    inside, outside = [], []
    for s in settings_with("r1smg"):
        rest = inside if theorem.limit(s.query, s.budget) is None else outside
        rest.append(r1smg(s.name, s.query, s.budget))
    for m in arguments["r1-thm5"]["lengths"]:
        if m > 3:  # for M = 3 the claim holds
            query = Query(shape=(m,), l2_sensitivity=1.0)
            budget = Budget(epsilon=0.9 / m, delta=1e-5)
            inside.append(r1smg(f"M = {m}, (0.9 / M, 1e-5)", query, budget))
    yield "r1-thm5", ["r1-thm5", "guarantee/r1smg"], inside
    yield _study_file("r1smg", outside)

    steps = arguments["r1-dpsgd-private"]
    made = [
        r1smg(
            f"one step of the total {total:g}",
            GRADIENT,
            Budget(epsilon=step, delta=steps["step_delta"]),
            Budget(epsilon=total, delta=steps["delta"]),
            steps["rate"],
        )
        for total, _, step in steps["budgets"]
    ]
    yield "r1-dpsgd-private", ["r1-dpsgd-private"], made

    made = [
        product_noise(
            f"M = {math.prod(s.query.shape)}, epsilon {s.epsilon:g}",
            s.query.query(),
            Budget(epsilon=s.epsilon),
            s.options["k"],
        )
        for s in arguments["product-guarantee"]["settings"]
    ]
    yield "product-guarantee", ["product-guarantee"], made
    key = "product-noise"
    yield _study_file(key, [product_noise(s.name, s.query, s.budget) for s in settings_with(key)])


def _tensor_files(arguments: dict[str, Any]) -> Iterator[File]:
    for claims in (["tldp-thm1", "tldp-thm2"], ["tldp-thm3"]):
        a = arguments[claims[0]]
        weight = a["weight"]
        made = [
            tldp(
                f"TLDP-{letter.upper()}{'-w' if weight else ''}, I = {count}",
                letter,
                box_query((count,), 0.0, a["width"]),
                a["epsilon"],
                weight,
            )
            for letter in "lg"
            for count in a["counts"]
        ]
        yield claims[0], claims, made
    for letter in "lg":
        for key, weight in ((f"tldp-{letter}", 0.0), (f"tldp-{letter}-w", 0.5)):
            rows = settings_with(key)
            made = [tldp(s.name, letter, s.query, s.budget.epsilon, weight) for s in rows]
            yield _study_file(key, made)


def _batch_file(a: dict[str, Any]) -> File:
    made = [
        imgm_batch(
            f"{data}, {words}, epsilon {epsilon:g}",
            Budget(epsilon=epsilon, delta=a["delta"]),
            Fraction(a["batch"], records),
            sampled=reading == "sampled",
        )
        for reading, words in (("released", "all records"), ("sampled", "one secret sample"))
        for data, records in a["records"].items()
        for epsilon in a["epsilons"]
    ]
    return "imgm-f1-budget", ["imgm-f1-budget"], made


def text_of(claims: list[str], certificates: list[Certificate]) -> str:
    """Return the text of a file of certificates of guarantees."""
    return f'{{"claims": {json.dumps(claims)}, "certificates": [\n{_lines(certificates)}\n]}}\n'


def _lines(certificates: list[Certificate]) -> str:
    return ",\n".join(map(json.dumps, certificates))


def write() -> list[Path]:
    """Write the certificates of guarantees, and return the paths of their files."""
    paths = []
    for name, claims, certificates in files():
        paths.append(FOLDER / f"{name}.json")
        paths[-1].write_text(text_of(claims, certificates), encoding="utf-8")
    return paths


def write_limits() -> list[Path]:
    """Write the certificates of limits, a file for each number of elements, and return the paths.

    The l2 sensitivity is 1.
    """
    paths = []
    for size in SIZES:
        query = Query(shape=(size,), l2_sensitivity=1.0)
        made = [limit_certificate(query, Budget(epsilon=e, delta=d)) for e, d in BUDGETS]
        paths.append(LIMITS / f"elements-{size}.json")
        paths[-1].write_text(f'{{"limits": [\n{_lines(made)}\n]}}\n', encoding="utf-8")
    return paths
