"""Read the entries of claims.yaml, check them against a model, and name errors with their line."""

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from studies.base.settings import joined, nearest, shown, type_at
from studies.base.yaml_file import ConfigError, StrictLoader, located, read_yaml, refused

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Entry:
    """An entry of a file.

    Args:
        path: The claims.yaml.
        index: The position of the entry in the file.
        fields: The fields of the entry, by name.
    """

    path: Path
    index: int
    fields: Mapping[str, Any]

    def validate(self, model: type[Model], fields: Mapping[str, Any], place: tuple = ()) -> Model:
        """Return the fields, which are at the path `place` in the entry, as a model.

        Raises:
            ConfigError: A field is wrong, missing or unknown.
        """
        try:
            return model.model_validate(fields)
        except ValidationError as failure:
            errors = failure.errors()
        # Report unknown names first, as a mistyped name is often why another one is missing.
        errors.sort(key=lambda error: error["type"] not in _UNKNOWN)
        path = errors[0]["loc"]
        place = () if path[:1] in (("tolerance",), ("margin",)) else place
        raise self.error((*place, *path), _problem(model, errors[0]))

    def error(self, place: tuple, problem: str) -> ConfigError:
        """Return an error about the value at a path of names and positions in the entry."""
        # The id may have line breaks, and an error has one line.
        whose = f"claim {' '.join(str(self.fields['id']).split())}: " if "id" in self.fields else ""
        key = joined(f"[{self.index}]", *place)
        return located(ConfigError(f"{whose}{problem}", key), self.path)


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def _problem(model: type[BaseModel], error: Mapping[str, Any]) -> str:
    """Say what is wrong with a field, and what to do."""
    *above, name = error["loc"]
    if error["type"] in _UNKNOWN:
        parent, _ = type_at(model, above)
        known = list(getattr(parent, "model_fields", getattr(parent, "__annotations__", {})))
        hint = nearest(name, known, "did you mean {!r}?") or f"allowed are {', '.join(known)}"
        return f"unknown field {name!r}; {hint}"
    path = ".".join(map(str, error["loc"]))
    if error["type"] in ("missing", "missing_argument"):
        return f"field {path!r} is missing"
    need = re.sub("^(Input should|Value error, must)", "must", error["msg"])
    return f"field {path!r} {need}, got {shown(error['input'])}"


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


def entries(path: Path) -> Iterator[Entry]:
    """Yield the entries of a file, which is a list of mappings of names to values.

    Raises:
        ConfigError: The file cannot be read, or is not such a list.
    """
    listed = read_yaml(path, _ClaimsLoader)
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{path}, line 1: not a list of entries; begin with - read: full")
    for index, fields in enumerate(listed):
        if not isinstance(fields, dict):
            problem = "not an entry of a list; begin with - id:"
            raise located(ConfigError(problem, f"[{index}]"), path)
        yield Entry(path, index, fields)


def shown_path(path: Path) -> str:
    """Return the path of a claims.yaml relative to the root of the project."""
    return str(path.relative_to(path.parents[2]))
