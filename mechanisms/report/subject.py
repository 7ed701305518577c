"""What a report is about: a class or a function of a file, or a program.

Only child processes import the file, see `mechanisms.comparison.limited_process`.
"""

import hashlib
import importlib.util
import inspect
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from mechanisms.base.mechanism import Mechanism
from mechanisms.base.registry import all_mechanisms, get_mechanism
from mechanisms.query.named_code import LoadError, check_takes, error_line, load_named
from mechanisms.query.words import nearest

MECHANISM, FUNCTION, PROGRAM = "mechanism", "function", "program"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What was named on the command line.

    Args:
        name: Key of the catalogue, or module:Name, or the words of a program.
        given: As it was typed.
        file: The file of the class or function, None for the others.
        options: Of the mechanism, by name.
        is_program, text: Whether it is a program, and one that reads and writes lines of numbers.
    """

    name: str
    given: str
    file: str | None = None
    options: dict
    text: bool = False
    is_program: bool = False


def subject_of(given: str, options: dict) -> Subject:
    """The subject that FILE.py:NAME, module:Name or a key names; a folder joins the search path.

    Raises:
        ValueError: No such file, one of another kind or whose name no module may have, or no name
            after it.
    """
    path, colon, name = given.rpartition(":") if ":" in given else (given, "", "")
    if not path.endswith(".py"):
        # A key has no dot, and a module no slash.
        if "/" in path or ("." in path and not colon) or Path(path).is_file():
            raise ValueError(
                f"{path} is not a Python file: report takes FILE.py:NAME, module:NAME or a "
                f"mechanism's key, got {given!r}"
            )
        return Subject(name=given, given=given, options=options)
    if not colon:
        raise ValueError(
            f"{given} must be followed by the name of a class or function, such as {given}:MyNoise"
        )
    file = Path(path).resolve()
    if not file.is_file():
        raise ValueError(f"there is no file {path}; give the path of a Python file")
    if not file.stem.isidentifier():
        raise ValueError(f"{file.name} cannot be imported: its name must be letters, digits and _")
    there = importlib.util.find_spec(file.stem)
    taken = there is not None and (there.origin is None or Path(there.origin).resolve() != file)
    if taken or file.stem in sys.stdlib_module_names:
        raise ValueError(f"{file.name} has the name of another module: give it a name of its own")
    sys.path.append(str(file.parent))
    return Subject(name=f"{file.stem}:{name}", given=given, file=str(file), options=options)


def program(command: str, *, text: bool) -> Subject:
    """The subject of a command line."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"--program must be a command, got {command!r}: {error}") from error
    if not words:
        raise ValueError("--program must be a command, got nothing")
    return Subject(name=command, given=command, options={}, text=text, is_program=True)


def what_it_is(subject: Subject, _question: object) -> dict:
    """What the file defines under that name, for a child process; `fault` where it is no subject.

    `kind` is "mechanism" or "function"; a mechanism has its key, title, source and claim too.
    """
    try:
        return _what_it_is(subject)
    except (SystemExit, KeyboardInterrupt) as error:
        return {"fault": f"{subject.given} ends the process when it is imported ({error!r})"}
    except Exception as error:
        text = str(error) if isinstance(error, TypeError | ValueError) else error_line(error)
        return {"fault": " ".join(text.split())}


def _what_it_is(subject: Subject) -> dict:
    if ":" not in subject.name:
        return _described(get_mechanism(subject.name))
    try:
        found = load_named(subject.name)
    except LoadError as error:
        raise ValueError(f"cannot load {subject.given}: {error}{_hint(subject)}") from error
    if inspect.isclass(found):
        if not issubclass(found, Mechanism):
            raise TypeError(
                f"{subject.given} must be a Mechanism (docs/add_your_own.md) or a function "
                f"(value, rng); it is a class of another kind"
            )
        if inspect.isabstract(found):
            missing = ", ".join(sorted(found.__abstractmethods__))
            raise TypeError(f"{subject.given} does not define {missing}")
        return _described(get_mechanism(subject.name))
    if not callable(found):
        raise TypeError(
            f"{subject.given} must be a class or a function, got {type(found).__name__}"
        )
    check_takes(found, ("value", "rng"), subject.given)
    about = inspect.getdoc(found) if inspect.isfunction(found) else None
    return {"kind": FUNCTION, "title": subject.given, "about": about or ""}


def _hint(subject: Subject) -> str:
    """The names of the file that are most like the one that it does not define."""
    module, _, name = subject.name.partition(":")
    names = [
        each
        for each in getattr(sys.modules.get(module), "__dict__", ())
        if not each.startswith("_")
    ]
    return nearest(name, names, "; did you mean {!r}?")


def _described(cls: type[Mechanism]) -> dict:
    theirs = all_mechanisms().get(cls.key)
    if theirs is not None and theirs is not cls:
        raise ValueError(f"the key {cls.key!r} is that of {theirs.title}: choose one of your own")
    for name in ("key", "title", "paper", "theorem", "guarantee"):
        if not isinstance(getattr(cls, name, None), str):
            raise TypeError(f"{cls.__name__} must state its {name} as a text")
    if cls.guarantee == "none":
        raise ValueError(f"{cls.title} claims no privacy, so there is nothing to report on")
    return {
        "kind": MECHANISM,
        "key": cls.key,
        "title": cls.title,
        "paper": cls.paper,
        "theorem": cls.theorem,
        "guarantee": cls.guarantee,
        "about": inspect.cleandoc(cls.__doc__ or ""),
    }


def digest(subject: Subject) -> str | None:
    """SHA-256 of the file, or None without one."""
    return hashlib.sha256(Path(subject.file).read_bytes()).hexdigest() if subject.file else None
