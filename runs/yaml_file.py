"""YAML files of configs, read strictly: every mistake is one line with file, line and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from experiments.contract.settings import ConfigError


class _StrictLoader(yaml.SafeLoader):
    """Refuses a mapping in which a key is there twice; YAML itself keeps the last one."""

    def construct_mapping(self, node, deep=False):
        lines: dict[Any, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key, line = self.construct_object(key_node, deep=True), key_node.start_mark.line + 1
            if isinstance(key, list | dict):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be a name", key_node.start_mark
                )
            if key in lines:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"the key {key!r} is there twice, first in line {lines[key]}; remove one",
                    key_node.start_mark,
                )
            lines[key] = line
        return super().construct_mapping(node, deep)


def read_yaml(path: Path | str) -> Any:
    """The content of a YAML file.

    Raises:
        ConfigError: The file cannot be read, is not UTF-8, is not YAML, or a key is there twice.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line = before.count(b"\n") + 1
        raise ConfigError(
            f"{path}, line {line}: byte {error.object[error.start]:#04x} is not UTF-8; save the "
            "file in UTF-8"
        ) from None
    except OSError as error:
        raise ConfigError(f"cannot read the config {path}: {error.strerror}") from None
    try:
        return yaml.load(text, _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = error.problem or error.context
        if isinstance(error, yaml.constructor.ConstructorError):
            raise ConfigError(f"{where}: {problem}") from None
        raise ConfigError(
            f"{where}: no valid YAML: {problem}; indent with spaces, close brackets and quotes, "
            "write `key: value` with a space"
        ) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: no valid YAML: {' '.join(str(error).split())}") from None
