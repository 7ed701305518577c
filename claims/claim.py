"""Claims as data: the entries of paper_figures/<paper>/claims.yaml, checked when they are read."""

import importlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ValidationError
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from claims.discovery import HOMES
from claims.judges import STRICT, Judge, all_judges
from claims.verdicts import Sizes, Verdict
from mechanisms.query.extensions import leave_out, left_out
from studies.base.settings import nearest, shown
from studies.base.yaml_file import told


def _ended(text: str) -> str:
    if not text.endswith("."):
        raise ValueError("must end with a full stop")
    return text


Sentence = Annotated[str, AfterValidator(_ended)]


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


class Claim(BaseModel):
    """One statement of a paper.

    Args:
        id: Unique, "<short paper>-<what>".
        paper: Key of the paper.
        where: Place in the paper.
        kind: What sort of statement it is.
        statement: What is claimed, in this project's words.
        expected: The paper's number or order, as text.
        reservation: What the paper itself restricts the claim to, or concedes.
        scope: What of the claim is judged, and what of the paper was read; nothing if all.
        judge: Name of a judge in paper_figures/, for a theorem or for one paper's study.
        rule: Name of a rule in claims/ instead; its arguments are fields of the claim.
        arguments: What the judge is given, such as the paper's numbers; its signature says what.
            `!paper NAME` stands for a number that other code reads too, in
            paper_figures/<paper>/numbers.py.
        tolerance: Relative, for exact numbers; for judges that take one.
        margin: The smallest difference that matters, for numbers over trials, in their units; for
            judges that take one.
        reason: Why that tolerance or margin.
        sizes: The paper's sizes, as in `Sizes`.
        stated_choice: Which of the judge's outcomes the paper's own words choose, where they do, as
            `scope` says; the verdict is that outcome's.
        decided_by: The run that would decide what is inconclusive or not run.
        meaning: One sentence for readers per verdict that can be expected; true of every run.
        in_reference: The same about the numbers of the committed run, for that run alone.
    """

    model_config = STRICT

    id: str
    paper: str
    where: str
    kind: Literal["guarantee", "value", "order", "formula", "trend", "cost"]
    statement: str
    expected: str
    judge: str = ""
    rule: str = ""
    reservation: str = ""
    scope: str = ""
    arguments: dict[str, Any] = {}
    tolerance: float | None = None
    margin: float | None = None
    reason: str = ""
    sizes: Sizes = Sizes()
    stated_choice: str = ""
    decided_by: str = ""
    meaning: dict[Verdict, Sentence] = {}
    in_reference: dict[Verdict, Sentence] = {}


def all_claims() -> list[Claim]:
    """Every claim, paper by paper in the order of their years.

    The claims of a paper whose file is broken are left out, with a warning; so are those of papers
    with one id for two claims, and those whose judge is in a file that was left out.
    """
    judges, found = all_judges(), {}
    for path in sorted(HOMES.glob("*/claims.yaml"), key=_by_year):
        if left_out(f"paper_figures.{path.parent.name}.numbers"):
            continue
        try:
            found[path] = claims_in(path, judges)
        except ClaimError as error:
            leave_out(error.file, f"line {error.line}: {error.problem}")
    return _without_shared_ids(found)


def _without_shared_ids(found: Mapping[Path, Mapping[str, Claim]]) -> list[Claim]:
    """The claims of those papers whose ids are all their own: nobody knows whose one that is not.

    Args:
        found: Of every claims.yaml its claims by their ids.
    """
    uses = Counter(chain.from_iterable(found.values()))
    kept = []
    for path, claims in found.items():
        if twice := next((each for each in claims if uses[each] > 1), None):
            leave_out(_shown(path), f"another paper has the claim {twice} too; rename one of them")
        else:
            kept += claims.values()
    return kept


def claims_in(path: Path, judges: Mapping[str, Judge]) -> dict[str, Claim]:
    """The claims of one file by their ids, without those whose judge was left out.

    Args:
        path: A claims.yaml in the home of its paper.
        judges: Every rule and judge by name.

    Raises:
        ClaimError: The file is no list of claims; a field that the claim or its judge does not
            have, or one with a wrong value; an id that is used twice; a name that
            paper_figures/<paper>/numbers.py does not have.
    """
    broken = left_out(f"paper_figures.{path.parent.name}")
    claims: dict[str, Claim] = {}
    for entry in _entries(path):
        if broken and entry.fields.get("judge", "") not in ("", *judges):
            continue
        claim = entry.claim(judges)
        if claim.id in claims:
            raise entry.error(("id",), "another claim has this id; rename one of them")
        claims[claim.id] = claim
    return claims


class _Entry:
    """An entry of a file, and the places of its fields."""

    def __init__(self, path: Path, node: yaml.Node, fields: Any) -> None:
        self.path = path
        self.node = node
        self.fields = {"paper": path.parent.name} | fields

    def claim(self, judges: Mapping[str, Judge]) -> Claim:
        """The claim, with the arguments of its judge checked."""
        own, inline = dict(self.fields), {}
        if "rule" in own:
            inline = {name: own.pop(name) for name in set(own) - set(Claim.model_fields)}
        claim = self._checked(Claim, own, ())
        name = claim.rule or claim.judge
        if bool(claim.rule) == bool(claim.judge):
            raise self.error((), "name either a rule or a judge")
        if name not in judges:
            near = nearest(name, judges, "; did you mean {!r}?")
            kind = "rule" if claim.rule else "judge"
            what_next = near or "; see extend/claim.py"
            raise self.error((kind,), f"there is no {kind} {name!r}{what_next}")
        limits = {"tolerance": claim.tolerance, "margin": claim.margin}
        limits = {name: value for name, value in limits.items() if value is not None}
        if limits and not claim.reason:
            raise self.error(tuple(limits)[:1], "a tolerance or a margin needs a reason")
        given = (inline or claim.arguments) | limits
        checked = self._checked(judges[name].schema, given, () if claim.rule else ("arguments",))
        return claim.model_copy(update={"arguments": dict(checked)})

    def _checked(self, model: type[BaseModel], fields: dict, place: tuple) -> BaseModel:
        try:
            return model.model_validate(fields)
        except ValidationError as failure:
            errors = failure.errors()
        # A mistyped name is often why another one is missing.
        errors.sort(key=lambda error: error["type"] not in _UNKNOWN)
        path = errors[0]["loc"]
        place = () if path[0] in ("tolerance", "margin") else place
        raise self.error((*place, *path), _problem(model, errors[0]))

    def error(self, place: tuple, problem: str) -> ClaimError:
        """The error about what stands at a path of names and positions in the entry."""
        name = self.fields.get("id", "?")
        return ClaimError(_shown(self.path), _line_of(self.node, place), f"claim {name}: {problem}")


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
            value: Any = importlib.import_module(f"paper_figures.{paper}.numbers")
            for name in self.construct_scalar(node).split("."):
                value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        except (AttributeError, KeyError, ModuleNotFoundError):
            problem = f"paper_figures/{paper}/numbers.py has no {node.value}; add it there"
            raise ClaimError(_shown(self.path), node.start_mark.line + 1, problem) from None
        return value


_ClaimsLoader.add_constructor("!paper", _ClaimsLoader.construct_number_of_the_paper)


def _entries(path: Path) -> Iterator[_Entry]:
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
                raise ClaimError(_shown(path), line, "this is no entry of a list; begin with - id:")
            yield _Entry(path, node, loader.construct_document(node))
    except yaml.MarkedYAMLError as error:
        raise ClaimError(_shown(path), *told(error)) from None
    except ReaderError as error:
        line = content.count(b"\n", 0, error.position) + 1
        problem = f"{error.reason}; save the file in UTF-8, without control characters"
        raise ClaimError(_shown(path), line, problem) from None
    except ClaimError:
        raise
    except (ArithmeticError, AttributeError, LookupError, ValueError) as error:
        # PyYAML lets Python's own errors pass: of the date 2020-99-99.
        problem = f"YAML cannot read a value ({error}); put a text in quotes"
        raise ClaimError(_shown(path), _line_of(node, ()), problem) from None


def _shown(path: Path) -> str:
    return str(path.relative_to(HOMES.parent))


def _by_year(path: Path) -> tuple[str, str]:
    paper = path.parent.name
    return paper[-4:], paper
