"""Find what a command names: a run that has results, or a part of one."""

from collections.abc import Collection
from pathlib import Path

from studies.base.settings import ConfigError, nearest

RESULTS = Path("results")
# The run whose results are committed.
REFERENCE = "reference"


def tables_of(run: str) -> list[Path]:
    """Return the tables of a run, `results/<run>/studies/*.parquet`, in alphabetical order.

    Raises:
        ConfigError: The run has no tables; the message lists the runs that have some.
    """
    known = sorted({path.parents[1].name for path in RESULTS.glob("*/studies/*.parquet")})
    require_known("run with tables", [run], known, str(RESULTS))
    return sorted((RESULTS / run / "studies").glob("*.parquet"))


def require_known(what: str, names: Collection[str], known: Collection[str], place: str) -> None:
    """Raise ConfigError for a name of something, such as a study, that a place does not have."""
    for name in names:
        if name not in known:
            hint = nearest(name, known, "did you mean {!r}? ")
            has = ", ".join(known) or "none, so start a run with `make run`"
            raise ConfigError(f"{place} has no {what} {name!r}; {hint}it has {has}")
