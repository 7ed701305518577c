"""The verdicts, and the rules by which the verdict on a claim follows from those on its parts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self, get_args

CONFIRMED = "confirmed"
PARTLY = "partly"
CONTRADICTED = "contradicted"
NOT_FOUND = "not found"
DEPENDS = "depends"
INCONCLUSIVE = "inconclusive"
NOT_RUN = "not run"
Verdict = Literal[
    "confirmed", "partly", "contradicted", "not found", "depends", "inconclusive", "not run"
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MEANING = {
    CONFIRMED: "Every part of the claim holds, by exact numbers or by whole intervals.",
    PARTLY: "Some parts hold; others do not, or are open. Each part has its own verdict.",
    CONTRADICTED: "Exact numbers or a 99.99% interval show the opposite at the stated parameters.",
    NOT_FOUND: "At least 10 trials show that the effect is smaller than the margin that matters.",
    DEPENDS: "The outcome depends on a choice that the paper does not state; both are given.",
    INCONCLUSIVE: "The runs cannot decide: too few, too small, no signal, or a choice was not run.",
    NOT_RUN: "This run lacks the data or the study, or no run of this suite can decide the claim.",
}
# The names of the calibrations for readers.
CALIBRATION_TITLES = {"published": "as published", "exact": "at equal true privacy"}


@dataclass(frozen=True)
class Part:
    """One part of a claim with its verdict.

    Args:
        name: The statement of the part in a few words, without our number: "JL above MVG".
        verdict: One of VERDICTS, except `partly` and `depends`.
        found: Our number, as text.
        reason: The reason for the verdict if the number alone does not show it, as a clause without
            a full stop.
    """

    name: str
    verdict: str
    found: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS or self.verdict in (PARTLY, DEPENDS):
            raise ValueError(f"a part's verdict must be one word for one part, got {self.verdict}")

    def __str__(self) -> str:
        text = joined(self.name, self.found)
        return f"{text}: {self.verdict}" + (f" ({self.reason})" if self.reason else "")


def joined(name: str, found: str) -> str:
    """Join the name of a part and our number, either of which may be empty: "below JL: 0.01"."""
    mark = " " if name.endswith((":", ",", " is")) or found.startswith("(") else ": "
    return mark.join(filter(None, (name, found)))


def combined(verdicts: Iterable[str]) -> str:
    """Return the verdict on a claim, given the verdicts on its parts.

    If all parts have the same verdict, so has the claim. If only some parts hold, the verdict is
    `partly`. If no part holds, it is the first of `contradicted`, `depends`, `inconclusive` and
    `not found` that a part has.

    Raises:
        ValueError: There are no parts.
    """
    found = set(verdicts)
    if not found:
        raise ValueError("a claim without parts has no verdict")
    if len(found) == 1:
        return found.pop()
    if CONFIRMED in found or PARTLY in found:
        return PARTLY
    return next(v for v in (CONTRADICTED, DEPENDS, INCONCLUSIVE, NOT_FOUND) if v in found)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of the study behind a verdict; None if a size has no meaning for the claim.

    Args:
        dataset: The data set that the sizes are about, if there are several.
        records: The number of training or private records. If a paper's number differs by data set,
            this is a mapping from the data set; so are epochs, rounds and network.
        epochs: The number of passes over the data.
        rounds: The number of rounds of federated learning.
        trials: The number of independent repetitions.
        network: The name of the network, regression or classifier.
        epsilons: The budgets, as text.
    """

    dataset: str | None = None
    records: int | Mapping[str, int] | None = None
    epochs: float | Mapping[str, float] | None = None
    rounds: int | Mapping[str, int] | None = None
    trials: int | None = None
    network: str | Mapping[str, str] | None = None
    epsilons: str | None = None

    def on(self, dataset: str | None) -> Self:
        """Return the sizes on a data set; mappings are replaced by their value there, or None."""
        chosen = {
            name: getattr(self, name).get(dataset)
            for name in ("records", "epochs", "rounds", "network")
            if isinstance(getattr(self, name), Mapping)
        }
        return replace(self, dataset=dataset, **chosen)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The parts of a claim under one choice that the paper leaves open."""

    choice: str
    parts: tuple[Part, ...]

    @property
    def verdict(self) -> str:
        """The verdict under this choice."""
        return combined(part.verdict for part in self.parts)

    def __str__(self) -> str:
        return f"{self.choice}: {self.verdict} ({'; '.join(map(str, self.parts))})"

    @property
    def is_open(self) -> bool:
        """Whether it is `partly` confirmed and the other parts are only inconclusive or not run."""
        others = {part.verdict for part in self.parts} - {CONFIRMED, NOT_RUN, INCONCLUSIVE}
        return self.verdict == PARTLY and not others


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of a judge. The verdict follows from the parts and the outcomes.

    Args:
        parts: The parts of the claim; if there are outcomes, the parts that the choice does not
            affect.
        choice: The choice that the paper leaves open, such as "the kernel of the regression".
        outcomes: The parts under every value of that choice that was run.
        ours: Our numbers as text, if there is a single part and its `found` does not have them.
        because: A sentence with the reason, for verdicts for which the claim has no sentence.
        decided_by: The run that would decide parts that are inconclusive or not run; "" if no run
            would. See `still_to_run`.
        detail: The computation, and how it differs from the paper's study.
        calibration: "published", "exact", "both", or "" if it does not matter.
        sizes: The sizes of the study behind the numbers.
        other_sizes: The sizes on further data sets.
    """

    parts: Sequence[Part] = ()
    choice: str = ""
    outcomes: Sequence[Outcome] = ()
    ours: str = ""
    because: str = ""
    decided_by: str = ""
    detail: str = ""
    calibration: str = ""
    sizes: Sizes = field(default_factory=Sizes)
    other_sizes: Sequence[Sizes] = ()

    def __post_init__(self) -> None:
        if bool(self.choice) != bool(self.outcomes):
            raise ValueError("outcomes and the choice between them need each other")
        if self.ours and (self.outcomes or len(self.parts) != 1):
            raise ValueError("where there are several parts, each has its own numbers")

    @property
    def verdict(self) -> str:
        """The verdict, which is `depends` only if two outcomes differ that no further run changes.

        Outcomes also differ if one confirms a part that another contradicts. An outcome that was
        not run does not count. An outcome that is inconclusive, or that has open parts beside
        confirmed ones, counts only if `decided_by` is empty, because nothing more can then be known
        under that choice. If the outcomes that count agree but there are others, the outcomes
        together are `inconclusive`.
        """
        judged = [self._verdict_over_choices] if self.outcomes else []
        return combined([*judged, *(part.verdict for part in self.parts)])

    @property
    def _verdict_over_choices(self) -> str:
        undecided = {NOT_RUN, INCONCLUSIVE} if self.decided_by else {NOT_RUN}
        found = {outcome.verdict for outcome in self.outcomes}
        if self.decided_by and len(found) > 1:
            found = {INCONCLUSIVE if o.is_open else o.verdict for o in self.outcomes}
        if self._parts_differ or len(found - undecided) > 1:
            return DEPENDS
        return found.pop() if len(found) == 1 else INCONCLUSIVE

    @property
    def _parts_differ(self) -> bool:
        """Whether a part is confirmed under one choice and contradicted under another."""
        parts = [part for outcome in self.outcomes for part in outcome.parts]
        confirmed = {part.name for part in parts if part.verdict == CONFIRMED}
        return any(part.verdict == CONTRADICTED and part.name in confirmed for part in parts)

    def without(self, choices: Collection[str]) -> Self:
        """Return the finding without the outcomes of these choices, which move to its `detail`.

        If no other outcome was run, the claim counts as not run.
        """
        if not choices:
            return self
        kept = [outcome for outcome in self.outcomes if outcome.choice not in choices]
        others = (
            f"Not what the paper states, {each}." for each in self.outcomes if each not in kept
        )
        detail = " ".join(filter(None, (self.detail, *others)))
        if len(kept) > 1:
            return replace(self, outcomes=kept, detail=detail)
        judged = kept[0].parts if kept else (Part("what the paper leaves open", NOT_RUN),)
        return replace(self, parts=(*judged, *self.parts), choice="", outcomes=(), detail=detail)

    @property
    def still_to_run(self) -> str:
        """The run that would decide open parts or outcomes, or "" if none is open.

        If there are outcomes, the parts beside them do not count.
        """
        parts = [part for outcome in self.outcomes for part in outcome.parts] or self.parts
        is_open = any(part.verdict in (NOT_RUN, INCONCLUSIVE) for part in parts)
        return self.decided_by if is_open else ""

    @property
    def reason(self) -> str:
        """The judge's sentence, else one on the choices that were not run, else ""."""
        lacking = [outcome.choice for outcome in self.outcomes if outcome.verdict == NOT_RUN]
        if self.because or not lacking:
            return self.because
        return f"Not run under this choice: {'; '.join(lacking)}."

    @property
    def numbers(self) -> str:
        """Our numbers as text, without verdicts."""
        if self.ours:
            return self.ours
        of_choices = (f"{each.choice}: {_numbers_of(each.parts)}" for each in self.outcomes)
        parts = [part for part in self.parts if part.found or not self.outcomes]
        return "; ".join(filter(None, (*of_choices, _numbers_of(parts))))

    @property
    def listed_parts(self) -> list[str]:
        """Each outcome and part with its verdict, as text; empty if there is a single part."""
        if not self.outcomes and len(self.parts) == 1:
            return []
        return [str(each) for each in (*self.outcomes, *self.parts)]


def _numbers_of(parts: Iterable[Part]) -> str:
    return "; ".join(joined(part.name, part.found) for part in parts)


def not_run(reason: str, decided_by: str = "") -> Finding:
    """Return the finding on a claim that this run cannot judge."""
    return Finding(parts=(Part("", NOT_RUN),), because=reason, decided_by=decided_by)


def count_of(verdicts: Iterable[str]) -> Mapping[str, int]:
    """Count each verdict that occurs, in the order of VERDICTS."""
    found = list(verdicts)
    return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}
