"""The command `compose`: the total privacy of a plan of releases, and the noise that fits it."""

import argparse
import math
from pathlib import Path

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.plans.plan import Release, compose, noise_factor
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.profile import Bounds
from mechanisms.privacy.trade_off import true_positive_rate
from mechanisms.query.words import rounded_down, rounded_up

_DESCRIPTION = (
    "Bounds of the total privacy of the releases of a plan, a YAML file; docs/compose_and_plan.md "
    "says what it may hold."
)
# Where a plan asks for nothing.
_DELTAS = (1e-5,)


def add_compose_command(commands, common: argparse.ArgumentParser) -> None:
    """Add the command to the subparsers `commands`."""
    parser = commands.add_parser(
        "compose",
        parents=[common],
        help="the total privacy of different releases",
        description=_DESCRIPTION,
    )
    parser.add_argument("plan", type=Path, help="a YAML file with the releases")
    parser.set_defaults(run=lambda options: answer(options.plan), show=text)


def answer(path: Path) -> dict:
    """The bounds of a plan, and the noise that meets its budget, if it has one.

    Raises ConfigError for a mistake in the file.
    """
    # YAML is an extra of the package.
    from mechanisms.plans.plan_file import read_plan

    plan = read_plan(path)
    settings = {"adjacency": plan.adjacency, "group": plan.group}
    total = compose(plan.releases, **settings)
    asked = plan.epsilons + plan.deltas + plan.rates
    shown = settings | {
        "epsilon": [
            {"delta": each, **_ends(total.epsilon(each))}
            for each in plan.deltas or (() if asked else _DELTAS)
        ],
        "delta": [{"epsilon": each, **_ends(total.delta(each))} for each in plan.epsilons],
        "true_positive_rate": [
            {"false_positive_rate": each, **_ends(true_positive_rate(total, each))}
            for each in plan.rates
        ],
    }
    if plan.budget is None:
        return shown
    epsilon, delta = plan.budget.epsilon, plan.budget.delta
    factor = noise_factor(plan.releases, epsilon, delta, **settings)
    noise = {
        name: _noise(each, 1.0 if each.fixed else factor)
        for name, each in zip(plan.names, plan.releases, strict=True)
        if isinstance(each, Release)
    }
    return shown | {
        "budget": {"epsilon": epsilon, "delta": delta},
        "noise_factor": factor,
        "noise": {name: scales for name, scales in noise.items() if scales},
    }


def _ends(bounds: Bounds) -> dict[str, float]:
    return {"lower": bounds.lower, "upper": bounds.upper}


def _noise(release: Release, factor: float) -> dict[str, float]:
    """The scales of a release's noise after it is multiplied, where they are known."""
    match release.of:
        case AdditiveMechanism() as mechanism:
            return mechanism.noise.scaled(factor).parameters()
        case GaussianProfile(mu=mu):
            return {"noise multiplier": factor / mu}
        case LaplaceProfile() as laplace:
            return {"noise multiplier": factor / laplace.largest_loss}
    return {}


def text(found: dict) -> str:
    """The answer in words; every bound is rounded in its own direction."""
    group = "" if found["group"] == 1 else f", groups of {found['group']}"
    lines = [f"Neighbours: {found['adjacency']}{group}."]
    for name, given in (("epsilon", "delta"), ("delta", "epsilon")):
        lines += [f"{name} at {given} {each[given]:g}: {_between(each)}" for each in found[name]]
    lines += [
        f"at a false positive rate of {each['false_positive_rate']:g}, the true positive rate of "
        f"an attack is at most {rounded_up(each['upper'], 4)}"
        for each in found["true_positive_rate"]
    ]
    if "budget" in found:
        budget, factor = found["budget"], rounded_up(found["noise_factor"], 6)
        lines.append(
            f"({budget['epsilon']:g}, {budget['delta']:g})-DP: multiply the noise by {factor}"
        )
        for name, scales in found["noise"].items():
            shown = ", ".join(f"{key} {rounded_up(value, 6)}" for key, value in scales.items())
            lines.append(f"  {name}: {shown}")
    return "\n".join(lines)


def _between(ends: dict[str, float]) -> str:
    lower, upper = ends["lower"], ends["upper"]
    if not math.isfinite(upper):
        return f"at least {rounded_down(lower, 6)}, no upper bound"
    return f"{rounded_down(lower, 6)} to {rounded_up(upper, 6)}"
