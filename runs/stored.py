"""The runs whose results are in results/."""

from __future__ import annotations

from pathlib import Path

from experiments.contract.settings import ConfigError, nearest

RESULTS = Path("results")


def stored_runs() -> list[str]:
    """Names of the runs with results, in alphabetical order."""
    return sorted({path.parents[1].name for path in RESULTS.glob("*/experiments/*.parquet")})


def tables_of(run: str) -> list[Path]:
    """The tables of a run, `results/<run>/experiments/*.parquet`, in alphabetical order.

    Raises:
        ConfigError: There are none; the message lists the runs that have some.
    """
    known = stored_runs()
    if run not in known:
        hint = nearest(run, known, "did you mean {!r}? ")
        raise ConfigError(
            f"{RESULTS / run} holds no results; {hint}runs with results: "
            f"{', '.join(known) or 'none, so start one with `make run`'}"
        )
    return sorted((RESULTS / run / "experiments").glob("*.parquet"))
