"""The paper of a run: a PDF in which every number is read from a row of the run.

templates/paper.typ is its text and templates/bound.typ what it may call. The same results give the
same bytes.
"""

from datetime import UTC, datetime
from pathlib import Path

from runs.parts import write_at_once

_TEXT = Path(__file__).parent / "templates/paper.typ"


class NoPaper(Exception):
    """The paper cannot be set; the message says why."""


def write_paper(run: str, out: Path) -> None:
    """Write the paper of results/`run`, in the folder of the suite.

    Raises:
        NoPaper: The package typst is missing, or the run lacks a row that the paper states.
    """
    try:
        import typst
    except ImportError as error:
        raise NoPaper(
            "the paper needs the package typst, which envs/requirements.txt pins"
        ) from error
    try:
        content = typst.compile(
            _TEXT,
            root=".",
            sys_inputs={"run": run},
            timestamp=datetime.fromtimestamp(0, UTC),
            ignore_system_fonts=True,
        )
    except typst.TypstError as error:
        raise NoPaper(f"the run {run} lacks what it states: {error}") from error
    write_at_once(out, content)
