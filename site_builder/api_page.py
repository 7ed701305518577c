"""What the library offers to Python, from its docstrings."""

import importlib
import inspect
import re

import mechanisms
from site_builder.site_data import Page
from site_builder.words import paragraphs

# Beside the names that the package itself exports.
MORE = {
    "limit": "mechanisms.limit.limit",
    "Limit": "mechanisms.limit.limit",
    "Verification": "mechanisms.verification.verification",
    "PrivacyProfile": "mechanisms.privacy.profile",
    "Bounds": "mechanisms.privacy.profile",
    "audit_release": "mechanisms.black_box.release_audit",
    "audit_files": "mechanisms.black_box.release_audit",
    "Release": "mechanisms.plans.plan",
    "noise_factor": "mechanisms.plans.plan",
}
_SECTION = re.compile(r"^([A-Z][a-z]+(?:, [A-Z][a-z]+)*):[ ]*", flags=re.M)
_ITEM = re.compile(r"^(\S[^:\n]*): ", flags=re.M)


def api_page() -> Page:
    """Every public class and function, with its methods."""
    homes = dict.fromkeys(mechanisms.__all__, "mechanisms") | MORE
    return Page(
        path="api.html",
        template="api.html",
        title="Python API",
        section="api.html",
        about="The classes and functions of the library, from their docstrings.",
        content={"entries": [_entry(name, home) for name, home in sorted(homes.items())]},
    )


def _entry(name: str, home: str) -> dict:
    value = getattr(importlib.import_module(home), name)
    members = inspect.getmembers(value) if inspect.isclass(value) else []
    own = [(each, member) for each, member in members if _is_documented(value, each, member)]
    return _told(name, value) | {"home": home, "members": [_told(*each) for each in own]}


def _is_documented(cls: type, name: str, member: object) -> bool:
    """Whether a public member is defined by a class of the library and has a docstring."""
    own = (each for each in cls.__mro__ if each.__module__.partition(".")[0] == mechanisms.__name__)
    defined = any(name in vars(each) for each in own)
    kind = callable(member) or isinstance(member, property)
    return defined and kind and not name.startswith("_") and bool(inspect.getdoc(member))


def _told(name: str, value: object) -> dict:
    """The call and the docstring of a class, a function or a property."""
    called = callable(value) and not (inspect.isclass(value) and issubclass(value, Exception))
    call = str(inspect.signature(value)) if called else ""
    head, *parts = _SECTION.split((inspect.getdoc(value) or "").replace("``", "`"))
    return {
        "name": name,
        # A default that is a function shows its address.
        "call": re.sub(r"<function .*? at 0x\w+>|<factory>", "...", call),
        "about": paragraphs(head),
        "sections": [
            (title, _items(inspect.cleandoc(text)))
            for title, text in zip(parts[::2], parts[1::2], strict=True)
        ],
    }


def _items(text: str) -> list[tuple[str, str]]:
    """What a section lists, by name; a text without names has an empty one."""
    first, *rest = _ITEM.split(text)
    named = zip(rest[::2], rest[1::2], strict=True)
    items = [("", first), *named] if first.strip() else list(named)
    return [(name, " ".join(about.split())) for name, about in items]
