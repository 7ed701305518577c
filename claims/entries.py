"""Entries of claims.yaml: read, checked against a model, and wrong ones named with their line."""

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from studies.base.settings import nearest, shown
from studies.base.yaml_file import told

Model = TypeVar("Model", bound=BaseModel)


class ClaimError(ValueError):
    """A claim is not well formed.

    Args:
        file: The claims.yaml, from the root of the project.
        line: In it.
        problem: What is wrong, and what to do.
    """

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file, self.line, self.problem = file, line, problem


class Entry:
    """An entry of a file, and the places of its fields."""

    def __init__(self, path: Path, node: yaml.Node, fields: Any) -> None:
        self.path = path
        self.node = node
        self.fields = fields

    def checked(self, model: type[Model], fields: Mapping[str, Any], place: tuple = ()) -> Model:
        """The fields as a model; `place` leads to them.

        Raises:
            ClaimError: A field is wrong, missing or unknown.
        """
        try:
            return model.model_validate(fields)
        except ValidationError as failure:
            errors = failure.errors()
        # A mistyped name is often why another one is missing.
        errors.sort(key=lambda error: error["type"] not in _UNKNOWN)
        path = errors[0]["loc"]
        place = () if path[:1] in (("tolerance",), ("margin",)) else place
        raise self.error((*place, *path), _problem(model, errors[0]))

    def error(self, place: tuple, problem: str) -> ClaimError:
        """The error about what stands at a path of names and positions in the entry."""
        # An error has one line, whatever stands in the field.
        whose = f"claim {' '.join(str(self.fields['id']).split())}: " if "id" in self.fields else ""
        return ClaimError(shown_path(self.path), _line_of(self.node, place), f"{whose}{problem}")


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def _problem(model: type[BaseModel], error: Mapping[str, Any]) -> str:
    """What is wrong with a field, and what to do."""
    *above, name = error["loc"]
    if error["type"] in _UNKNOWN:
        known = _names_at(model, above)
        hint = nearest(name, known, "did you mean {!r}?") or f"allowed are {', '.join(known)}"
        return f"unknown field {name!r}; {hint}"
    path = ".".join(map(str, error["loc"]))
    if error["type"] in ("missing", "missing_argument"):
        return f"field {path!r} is missing"
    need = re.sub("^(Input should|Value error, must)", "must", error["msg"])
    return f"field {path!r} {need}, got {shown(error['input'])}"


def _names_at(model: Any, path: Sequence) -> list[str]:
    """The names that a mapping at a path below a model may have."""
    for key in path:
        fields = getattr(model, "model_fields", {})
        if key in fields:
            model = fields[key].annotation
        while get_args(model):
            model = next(kind for kind in reversed(get_args(model)) if kind is not type(None))
    return list(getattr(model, "model_fields", getattr(model, "__annotations__", {})))


def _line_of(node: yaml.Node, place: tuple) -> int:
    """The line of what stands at a path, or of the last part of the path that the file has."""
    line = node.start_mark.line
    for key in place:
        children = {}
        if isinstance(node, yaml.MappingNode):
            children = {name.value: (name, value) for name, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            children = dict(enumerate((each, each) for each in node.value))
        if key not in children:
            break
        mark, node = children[key]
        line = mark.start_mark.line
    return line + 1


class _ClaimsLoader(yaml.CSafeLoader):
    """Reads `!paper NAME` as that name, such as `A` or `A.b.c`, in the numbers of the paper."""

    path: Path

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        # YAML keeps the last of two equal names.
        names: set[str] = set()
        for name, _ in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value in names:
                problem = f"the field {name.value!r} appears twice; remove one"
                raise ConstructorError(None, None, problem, name.start_mark)
            names.add(str(name.value))
        return super().construct_mapping(node, deep)

    def construct_number_of_the_paper(self, node: yaml.Node) -> Any:
        paper = self.path.parent.name
        try:
            value: Any = importlib.import_module(f"papers.{paper}")
            for name in self.construct_scalar(node).split("."):
                value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        except (AttributeError, KeyError, ImportError, SyntaxError) as error:
            problem = f"papers/{paper}.py has no {node.value}; add it there ({error})"
            raise ClaimError(shown_path(self.path), node.start_mark.line + 1, problem) from None
        return value


_ClaimsLoader.add_constructor("!paper", _ClaimsLoader.construct_number_of_the_paper)


def entries(path: Path) -> Iterator[Entry]:
    """The entries of a file, which is a list of mappings of names to values."""
    content = path.read_bytes()
    try:
        loader = _ClaimsLoader(content)
        loader.path = path
        root = loader.get_single_node()
        listed = root.value if isinstance(root, yaml.SequenceNode) else [root]
        for node in listed:
            if root is node or not isinstance(node, yaml.MappingNode):
                line = _line_of(node, ()) if node else 1
                raise ClaimError(
                    shown_path(path), line, "this is no entry of a list; begin with - id:"
                )
            yield Entry(path, node, loader.construct_document(node))
    except yaml.MarkedYAMLError as error:
        raise ClaimError(shown_path(path), *told(error)) from None
    except ReaderError as error:
        line = content.count(b"\n", 0, error.position) + 1
        problem = f"{error.reason}; save the file in UTF-8, without control characters"
        raise ClaimError(shown_path(path), line, problem) from None
    except ClaimError:
        raise
    except (ArithmeticError, AttributeError, LookupError, ValueError) as error:
        # PyYAML lets Python's own errors pass: of the date 2020-99-99.
        problem = f"YAML cannot read a value ({error}); put a text in quotes"
        raise ClaimError(shown_path(path), _line_of(node, ()), problem) from None


def shown_path(path: Path) -> str:
    """A claims.yaml from the root of the project."""
    return str(path.relative_to(path.parents[2]))
