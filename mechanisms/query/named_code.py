"""Load code that a user names as ``module:name``, with errors of one line."""

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path


class LoadError(ValueError):
    """There is no such code, or its module cannot be imported; the message says why."""


def load_named(name: str) -> object:
    """Load the object that ``module:name`` names.

    Raises:
        LoadError: `name` has another form, there is no such module or name, or the module raised
            an error or ended.
    """
    module_name, _, attribute = name.partition(":")
    if not (module_name and attribute):
        raise LoadError("it must have a module before the colon and a name after it")
    if module_name.endswith(".py"):
        raise LoadError(
            f"name the module in place of the file: {Path(module_name).stem}:{attribute}, in the "
            "folder of the file"
        )
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise LoadError(
            f"{error}; the module must be importable from the working directory, or its folder "
            "must be in PYTHONPATH"
        ) from error
    except (Exception, SystemExit) as error:
        raise LoadError(error_line(error)) from error
    if not hasattr(module, attribute):
        raise LoadError(f"the module {module_name} defines no {attribute!r}")
    return getattr(module, attribute)


def check_takes(function: Callable, parameters: tuple[str, ...], name: str) -> None:
    """Raise ValueError, naming the function, unless it takes these positional parameters.

    A function without a readable signature, such as some in C, passes.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*parameters)
    except TypeError as error:
        raise ValueError(
            f"{name} must take ({', '.join(parameters)}), and it takes {signature}; give a "
            "function of these that calls it"
        ) from error


def error_line(error: BaseException, name: str = "") -> str:
    """Describe an error in one line: type, place and message.

    Args:
        error: An error that was raised.
        name: ``module:name`` of the code that ran. The place is the last line of its module that
            the error went through, or the last line of all if it went through none.
    """
    if isinstance(error, SyntaxError) and error.filename:
        place, message = f"{error.filename}, line {error.lineno}", error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        frame = [*frames, *_within(frames, name)][-1]
        place, message = f"{frame.filename}, line {frame.lineno}, in {frame.name}", str(error)
    return " ".join(f"{type(error).__name__} ({place}): {message}".split())


def went_through(error: Exception, name: str) -> bool:
    """Return whether an error was raised in the module of ``module:name``, or in what it called."""
    return bool(_within(traceback.extract_tb(error.__traceback__), name))


def _within(frames: traceback.StackSummary, name: str) -> list[traceback.FrameSummary]:
    """Return the frames in the file of the module of ``module:name``."""
    module = sys.modules.get(name.partition(":")[0])
    return [frame for frame in frames if frame.filename == getattr(module, "__file__", None)]
