"""The entries of a claims.yaml, and the facts that all claims of a paper share.

The first entry says what was read, which choices the paper leaves open, and how our method differs.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, ConfigDict, Field, RootModel

from claims.discovery import HOMES
from datasets.titles import dataset_title
from studies.base.settings import ConfigError, KnownKeys, read_settings
from studies.base.yaml_file import StrictLoader, errors_in, read_yaml, refused


class Record(KnownKeys):
    """The base class of the records of a claims.yaml, and of the arguments of judges."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)


class _Entries(RootModel):
    root: Annotated[list[dict[str, Any]], Field(min_length=1)]


class _ClaimsLoader(StrictLoader):
    """A YAML loader that replaces `!paper NAME` by the value of NAME in papers/<paper>.py.

    NAME may have dots, as `A.b.c`, for attributes or keys of a value.
    """

    def construct_number_of_the_paper(self, node: yaml.Node) -> Any:
        paper = Path(self.name).parent.name
        try:
            value: Any = importlib.import_module(f"papers.{paper}")
            for name in self.construct_scalar(node).split("."):
                value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        except (AttributeError, KeyError, ImportError, SyntaxError) as error:
            problem = f"papers/{paper}.py has no {node.value}; add it there ({error})"
            raise refused(node, problem) from None
        return value


_ClaimsLoader.add_constructor("!paper", _ClaimsLoader.construct_number_of_the_paper)


def entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a claims.yaml.

    Raises:
        ConfigError: The file cannot be read, or is not a list of mappings.
    """
    listed = read_yaml(path, _ClaimsLoader)
    with errors_in(path):
        return read_settings(_Entries, listed).root


def _require_full_stop(text: str) -> str:
    if not text.endswith("."):
        raise ValueError("must end with a full stop")
    return text


Sentence = Annotated[str, AfterValidator(_require_full_stop)]
READ = {
    "full": "The whole paper was read.",
    "code": "Its code was read, and the paper in part.",
    "theorem": "Its theorem was read, and not its proof.",
    "abstract": "Its abstract alone was read, so its claims have no verdicts.",
}


class OpenChoice(Record):
    """A choice that a claim depends on and that the paper does not state.

    Args:
        choice: The choice, in the words of `Finding.choice` in the judges. All claims that it
            affects are judged under every outcome.
        where: A place in the paper, such as "Figure 8", if the choice affects only claims there.
        ruled_out: The outcomes that the paper's own text or numbers exclude.
        by: A quotation of the sentence or the number that excludes them.
    """

    choice: str
    where: str = ""
    ruled_out: tuple[str, ...] = ()
    by: str = ""

    def check(self) -> None:
        """Raise ConfigError if only one of `ruled_out` and `by` is stated."""
        if bool(self.ruled_out) != bool(self.by):
            raise ConfigError("ruled_out and by, the paper's words, need each other")


class Paper(Record):
    """Facts that all claims of a paper share.

    Args:
        read: How much of the paper was read. Claims are not judged if it was only the abstract.
        read_note: A sentence on what was read; "" if there is no more to say.
        open_choices: Every choice that the paper leaves open.
        differs: By study, how our method in the reference run differs from the paper's. It is a
            sentence, or a phrase for each data set with the paper's method in brackets. The ledger,
            notes below drawings and the table of panels print it.
    """

    read: Literal["full", "code", "theorem", "abstract"]
    read_note: Sentence | Literal[""] = ""
    open_choices: tuple[OpenChoice, ...] = ()
    differs: dict[str, Sentence | dict[str, str]] = {}

    @property
    def read_words(self) -> str:
        """Sentences on how much of the paper was read."""
        return f"{READ[self.read]} {self.read_note}".strip()


@cache
def paper_of(key: str) -> Paper | None:
    """Return the facts of a paper, or None if there is no paper_figures/<key>/claims.yaml.

    Raises:
        ConfigError: That file is wrong.
    """
    path = HOMES / key / "claims.yaml"
    return read_settings(Paper, entries(path)[0]) if path.exists() else None


def differences(key: str, studies: tuple[str, ...]) -> str:
    """Describe how our method differs from the paper's in these studies; the text may be empty."""
    differs = paper.differs if (paper := paper_of(key)) else {}
    # Two studies may differ in the same way.
    return " ".join(dict.fromkeys(_sentence(differs[name]) for name in studies if name in differs))


def _sentence(differs: str | Mapping[str, str]) -> str:
    if isinstance(differs, str):
        return differs
    words = [f"{dataset_title(dataset)}: {found}" for dataset, found in differs.items()]
    return f"{'. '.join(words)}. In brackets: the paper's."
