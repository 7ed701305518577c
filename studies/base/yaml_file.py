"""Read YAML files strictly; an error is one line with the file, the line and the remedy."""

import re
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from mechanisms.query.written_numbers import is_number, number_in


class ConfigError(ValueError):
    """A key or value of a config is not allowed; the message names it and what is allowed.

    Args:
        message: One sentence.
        key: The path of the key at fault, such as "studies.pca.trials"; empty if there is none.
    """

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


class StrictLoader(yaml.SafeLoader):
    """A loader that refuses text which YAML reads in unexpected ways.

    YAML keeps the last of two equal keys, and reads 0x3 as 3, 010 as 8, 1:30 as 90, and
    0.99999999999999999999 as 1.
    """

    def construct_mapping(self, node, deep=False):
        if not isinstance(node, yaml.MappingNode):
            raise refused(node, f"the tag {node.tag!r} is only for a mapping; remove it")
        lines: dict[Any, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key, line = self.construct_object(key_node, deep=True), _line(key_node)
            if isinstance(key, list | dict | set):
                raise refused(key_node, "a key must be a name; remove the brackets")
            if key in lines:
                problem = f"the key {key!r} appears twice, first in line {lines[key]}; remove one"
                raise refused(key_node, problem)
            lines[key] = line
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node):
        number = super().construct_yaml_int(node)
        if re.fullmatch(r"[-+]?(0|[1-9][0-9_]*)", node.value):
            return number
        raise _misread(node, number)

    def construct_yaml_float(self, node):
        number = super().construct_yaml_float(node)
        if ":" in node.value:
            raise _misread(node, number)
        if is_number(node.value):
            try:
                number_in(node.value)
            except ValueError as error:
                raise refused(node, str(error)) from None
        return number

    def construct_object(self, node, deep=False):
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            # PyYAML lets Python's own errors through, for example for the date 2020-99-99.
            kind = node.tag.rpartition(":")[2]
            shown = str(node.value)[:40]
            raise refused(node, f"{shown!r} is not a valid {kind}; put a text in quotes") from None

    def construct_undefined(self, node):
        raise refused(node, f"the tag {node.tag!r} is not allowed; remove it")


StrictLoader.add_constructor("tag:yaml.org,2002:int", StrictLoader.construct_yaml_int)
StrictLoader.add_constructor("tag:yaml.org,2002:float", StrictLoader.construct_yaml_float)
StrictLoader.add_constructor(None, StrictLoader.construct_undefined)


def refused(node: yaml.Node, problem: str) -> ConstructorError:
    """The error of a loader about a node; `read_yaml` adds the file and the line."""
    return ConstructorError(None, None, problem, node.start_mark)


def _misread(node: yaml.Node, number: float) -> ConstructorError:
    return refused(
        node,
        f"YAML reads {node.value} as the number {number}; put a shape or a text in quotes, "
        "write a number in decimals",
    )


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def read_yaml(path: Path | str, loader: type[StrictLoader] = StrictLoader) -> Any:
    """Read a YAML file and return its content.

    Args:
        path: The path of the file; the loader has it as its `name`.
        loader: A loader that may read additional tags.

    Raises:
        ConfigError: The file cannot be read, is not UTF-8 or not YAML, or repeats a key.
    """
    text = _text(path)
    try:
        reading = loader(text)
        reading.name = str(path)
        return reading.get_single_data()
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{path}, line {_told(error)}") from None
    except RecursionError:
        raise ConfigError(f"{path}: brackets are nested too deeply; close them") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"{path}, line {line}: YAML allows no character {error.character:#06x}; remove it"
        ) from None


def _text(path: Path | str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line = before.count(b"\n") + 1
        raise ConfigError(
            f"{path}, line {line}: byte {error.object[error.start]:#04x} is not UTF-8; save the "
            "file in UTF-8"
        ) from None
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}; name a YAML file that exists"
        ) from None


def _told(error: yaml.MarkedYAMLError) -> str:
    """The line of a YAML error, and the problem with the place where the faulty part begins."""
    mark = error.problem_mark or error.context_mark
    problem, context = error.problem or error.context, error.context_mark
    if not isinstance(error, ConstructorError):
        if context and error.problem_mark and context.line != error.problem_mark.line:
            problem = f"{problem} ({error.context} that begins in line {context.line + 1})"
        problem = (
            f"not valid YAML: {problem}; indent with spaces, close brackets and quotes, write "
            "`key: value` with a space"
        )
    return f"{mark.line + 1}: {problem}"


def located(error: ConfigError, path: Path | str) -> ConfigError:
    """Add the file to an error, and the line if the file has the key or one above it."""
    root = yaml.compose(_text(path), yaml.SafeLoader)
    line = _line_of(root, error.key) if error.key else None
    where = str(path) if line is None else f"{path}, line {line}"
    return ConfigError(f"{where}: {error}", error.key)


def _line_of(node: yaml.Node | None, key: str) -> int | None:
    """The line of the deepest key on the path `key`, below `node`."""
    if isinstance(node, yaml.SequenceNode) and (index := re.match(r"\[(\d+)\]\.?", key)):
        item = node.value[int(index[1])]
        return _line_of(item, key[index.end() :]) or _line(item)
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            rest = key.removeprefix(str(name.value))
            if rest != key and (not rest or rest[0] in ".["):
                return _line_of(value, rest.removeprefix(".")) or _line(name)
    return None
