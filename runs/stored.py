"""Find the runs that have results in results/."""

from pathlib import Path

from studies.base.settings import ConfigError, nearest

RESULTS = Path("results")
# The run whose results are committed.
REFERENCE = "reference"


def stored_runs() -> list[str]:
    """Return the names of the runs with results, in alphabetical order."""
    return sorted({path.parents[1].name for path in RESULTS.glob("*/studies/*.parquet")})


def tables_of(run: str) -> list[Path]:
    """Return the tables of a run, `results/<run>/studies/*.parquet`, in alphabetical order.

    Raises:
        ConfigError: The run has no tables; the message lists the runs that have some.
    """
    known = stored_runs()
    if run not in known:
        hint = nearest(run, known, "did you mean {!r}? ")
        raise ConfigError(f"{RESULTS / run} holds no results; {hint}{runs_with_results(known)}")
    return sorted((RESULTS / run / "studies").glob("*.parquet"))


def runs_with_results(known: list[str]) -> str:
    """List the `stored_runs`, or say how to start one, as the end of an error message."""
    return f"runs with results: {', '.join(known) or 'none, so start one with `make run`'}"
