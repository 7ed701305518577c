"""Read YAML files strictly; an error is one line with the file, the line and the remedy."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

# YAML reads 0x3 as 3, 010 as 8 and 1:30 as 90.
_MISREAD = re.compile(r"[-+]?0[0-9bx_][0-9a-fA-F_]*|.*:.*")


class ConfigError(ValueError):
    """A key or value of a file is not allowed, or a command lacks what it needs.

    Args:
        problem: What is wrong, what is allowed and what to do.
        key: The path of the key at fault, such as "studies.pca.trials"; empty if there is none.
            Positions in lists are numbers from 0, as in "studies.pca.epsilons.0".
        place: The file, and the line if it is known.
    """

    def __init__(self, problem: str, key: str = "", place: str = "") -> None:
        super().__init__(problem)
        self.problem, self.key, self.place = problem, key, place

    def __str__(self) -> str:
        key = f"key {self.key}" if self.key else ""
        return ": ".join(part for part in (self.place, key, self.problem) if part)

    def below(self, *keys: object) -> "ConfigError":
        """Return the same error for a section that is at the path `keys`."""
        return ConfigError(self.problem, joined(*keys, self.key))


def joined(*keys: object) -> str:
    """Join keys to a path; empty keys are left out."""
    return ".".join(str(key) for key in keys if key != "")


class StrictLoader(yaml.SafeLoader):
    """A loader that refuses misread numbers, and repeated keys, of which PyYAML keeps the last."""

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict:
        lines: dict[str, int] = {}
        # A node that is no mapping has a wrong tag, which the base class reports.
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        for key, _ in pairs:
            name = str(key.value)
            if name in lines:
                problem = f"the key {name!r} appears twice, first in line {lines[name]}; remove one"
                raise refused(key, problem)
            lines[name] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
        except (ValueError, AttributeError) as error:
            # PyYAML lets Python's own errors through, for example for the date 2020-99-99.
            raise refused(node, f"{node.value}: {error}; put a text in quotes") from None
        if isinstance(value, int | float) and _MISREAD.fullmatch(node.value):
            problem = f"YAML reads {node.value} as {value}; quote a text, write numbers in decimals"
            raise refused(node, problem)
        return value


def refused(node: yaml.Node, problem: str) -> ConstructorError:
    """Return the error of a loader about a node; the node's mark has the file and the line."""
    return ConstructorError(None, None, problem, node.start_mark)


def read_yaml(path: Path | str, loader: type[StrictLoader] = StrictLoader) -> Any:
    """Read a YAML file and return its content.

    Args:
        path: The path of the file; the loader has it as its `name`.
        loader: A loader that may read additional tags.

    Raises:
        ConfigError: The file cannot be read, is not YAML in UTF-8, repeats a key or has a number
            that YAML misreads.
    """
    try:
        with open(path, "rb") as file:
            return loader(file).get_single_data()
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"bad YAML: {' '.join(str(error).split())}") from None
    except OSError as error:
        problem = f"cannot read {path}: {error.strerror}; name a YAML file that exists"
        raise ConfigError(problem) from None


@contextmanager
def errors_in(path: Path | str) -> Iterator[None]:
    """Add the file to a ConfigError, and the line if the file has the key or one above it."""
    try:
        yield
    except ConfigError as error:
        with open(path, "rb") as file:
            line = _line_of(yaml.compose(file, yaml.SafeLoader), error.key)
        place = str(path) if line is None else f"{path}, line {line}"
        raise ConfigError(error.problem, error.key, place) from None


def _line_of(node: yaml.Node | None, key: str) -> int | None:
    """Return the line of the deepest key that exists on a path below a node."""
    line = None
    for name in key.split("."):
        parts = _parts(node)
        if name not in parts:
            break
        start, node = parts[name]
        line = start.start_mark.line + 1
    return line


def _parts(node: yaml.Node | None) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Return the (key, value) nodes of a mapping by name, or the (item, item) of a list by index.

    Other nodes have no parts.
    """
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): (key, value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return {str(index): (item, item) for index, item in enumerate(node.value)}
    return {}
