"""Read the entries of a claims.yaml, and name what is wrong with their line."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import ConfigDict, Field, RootModel

from studies.base.settings import KnownKeys, read_settings
from studies.base.yaml_file import StrictLoader, errors_in, read_yaml, refused


class Record(KnownKeys):
    """A part of an entry, or the arguments of a judge."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)


class _Entries(RootModel):
    root: Annotated[list[dict[str, Any]], Field(min_length=1)]


class _ClaimsLoader(StrictLoader):
    """Replaces `!paper NAME`, such as `A` or `A.b.c`, by that value in papers/<paper>.py."""

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
    """Return the entries of a file, which is a list of mappings of names to values.

    Raises:
        ConfigError: The file cannot be read, or is not such a list.
    """
    listed = read_yaml(path, _ClaimsLoader)
    with errors_in(path):
        return read_settings(_Entries, listed).root
