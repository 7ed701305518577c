"""The settings that every study has, and the check that all names in them exist."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, get_args

from pydantic import Field, ValidationInfo, WithJsonSchema, field_validator, model_validator

from mechanisms import Mechanism
from mechanisms.base.mechanism import CALIBRATIONS, Calibration
from studies.base.mechanism_sets import ALLOWED_JSON, chosen
from studies.base.settings import (
    ByDataset,
    ByMechanism,
    DatasetName,
    Disallowed,
    Distinct,
    Epsilon,
    MechanismName,
    MissingEntry,
    Section,
    Whole,
    refuse_unknown,
)

# Validation expands a set of mechanisms in the config to the list of their names.
Mechanisms = Annotated[list[str], Field(min_length=1), WithJsonSchema(ALLOWED_JSON)]
# In some mappings this key stands for all mechanisms without an entry.
DEFAULT = "default"


@dataclass(frozen=True)
class Surroundings:
    """The names that the settings of a study may refer to.

    Args:
        study: The study.
        available: Every mechanism and variant by name.
        sets: The named sets of the config.
        also: Mechanisms that run in every study that can use them.
    """

    study: Any
    available: Mapping[str, type[Mechanism]]
    sets: Mapping[str, list[str]]
    also: Collection[str] = ()

    def chosen(
        self, value: Any, available: Mapping[str, type[Mechanism]], key: str = ""
    ) -> list[str]:
        """Expand a set of mechanisms and add the usable ones of `also`; see `mechanism_sets`."""
        needs = self.study.needs
        names = chosen(value, available, self.sets, needs, key)
        also = [n for n in self.also if n in available and issubclass(available[n], needs)]
        return list(dict.fromkeys([*names, *also]))


class StudySettings(Section):
    """The settings that every study has. A study adds its own as fields of a subclass.

    Fields of type `ByDataset` without a default need an entry for every data set of the run. The
    keys of `ByDataset` and of `ByMechanism` must be data sets and mechanisms of the run. A
    `ByMechanism` without a default may have the key "default" for all mechanisms without an entry.
    """

    # The fields that do nothing but set the number of trials.
    counts_of_trials: ClassVar[tuple[str, ...]] = ()

    datasets: Distinct[DatasetName] = Field(description="data sets of the study")
    mechanisms: Mechanisms = Field("all", description="mechanisms and variants to run")
    mechanisms_for: ByDataset[Mechanisms] = Field(
        {}, description="for single data sets, which of `mechanisms` to run"
    )
    calibrations: Distinct[Calibration] = Field(
        list(CALIBRATIONS), description="how mechanisms choose their noise"
    )
    calibrations_for: ByMechanism[Distinct[Calibration]] = Field(
        {}, description="for single mechanisms, which of `calibrations` to run"
    )
    calibrations_on: ByDataset[Distinct[Calibration]] = Field(
        {}, description="for single data sets, which of `calibrations` to run"
    )
    least_exact_epsilon: ByDataset[Epsilon] = Field(
        {}, description="for single data sets, the least epsilon to run at the exact calibration"
    )
    split_trials: bool = Field(
        False, description="one cell per trial, in studies that train networks; for a cluster"
    )
    split_epsilons: bool = Field(
        False, description="one cell per epsilon, so that machines can share the work of a cell"
    )
    cells_per_job: Whole | None = Field(
        None,
        ge=1,
        description="cells that one job runs; null for the key of the run, or for 1 where trials "
        "are split",
    )

    @classmethod
    def of_cell(cls, data: dict[str, Any], **grid: list) -> Self:
        """Read the settings of one cell from the JSON data that its process receives.

        Args:
            data: The settings without those of the grid.
            grid: The cell's part of the grid, such as datasets=["adult"].
        """
        own = {name: values for name, values in grid.items() if name in cls.model_fields}
        return cls.model_validate(data | own)

    def of_one(self, dataset: str, mechanism: str, calibration: str, *, split: bool) -> dict:
        """Return the settings that the numbers of one cell can depend on, as JSON data.

        Mappings keep only the entry of the cell.

        Args:
            dataset: The data set of the cell.
            mechanism: The mechanism of the cell.
            calibration: The calibration of the cell.
            split: Whether the cell has one trial, so that it does not depend on the trial count.
        """
        counts = {name: None for name in self.counts_of_trials}
        if counts and not split:
            counts["trials"] = self.trial_count(dataset, calibration)
        own = {DatasetName: {dataset}, MechanismName: {mechanism, DEFAULT}}
        found = self.model_dump(mode="json") | counts
        for name, field in type(self).model_fields.items():
            if (kept := own.get(_keys_of(field.annotation))) and found[name] is not None:
                found[name] = {key: found[name][key] for key in sorted(kept & found[name].keys())}
        return found

    @property
    def takes_gpu(self) -> bool:
        """Whether cells use a CUDA device if one is available."""
        return False

    def trial_count(self, dataset: str, calibration: str) -> int:
        """Return the number of trials of a grid point; 1 in a study without trials."""
        return 1

    @field_validator("mechanisms", mode="before")
    @classmethod
    def _named(cls, value: Any, info: ValidationInfo) -> list[str]:
        near = info.context
        return value if near is None else near.chosen(value, near.available)

    @field_validator("mechanisms_for", mode="before")
    @classmethod
    def _named_for_datasets(cls, value: Any, info: ValidationInfo) -> Any:
        near = info.context
        if near is None or not isinstance(value, dict) or "mechanisms" not in info.data:
            return value
        run = {name: near.available[name] for name in info.data["mechanisms"]}
        return {dataset: near.chosen(each, run, str(dataset)) for dataset, each in value.items()}

    @model_validator(mode="after")
    def _fit(self, info: ValidationInfo):
        if info.context is not None:
            self._check_all_names(info.context.study)
            self.check_run()
        self.check()
        return self

    def check_run(self) -> None:
        """Raise a ConfigError for a value that does not fit the run's data sets or grids.

        Unlike `check`, it is not called in the process of a cell, which knows only its own data set
        and grid.
        """

    def _check_all_names(self, study: Any) -> None:
        refuse_unknown("datasets", self.datasets, study.datasets)
        for name, field in type(self).model_fields.items():
            keys = _keys_of(field.annotation)
            if keys == DatasetName:
                self._check_datasets(name, required=field.is_required())
            elif keys == MechanismName:
                known = [*self.mechanisms, *([DEFAULT] if field.is_required() else [])]
                refuse_unknown(name, getattr(self, name), known)
        for name in ("calibrations_for", "calibrations_on"):
            for key, calibrations in getattr(self, name).items():
                refuse_unknown(f"{name}.{key}", calibrations, self.calibrations)
        if self.split_trials and not study.splits_trials:
            raise Disallowed("split_trials", "false in this study, whose trials are quick", True)

    def _check_datasets(self, name: str, *, required: bool) -> None:
        entries = getattr(self, name)
        refuse_unknown(name, entries, self.datasets)
        for dataset in self.datasets:
            if required and dataset not in entries:
                raise MissingEntry(name, dataset)


def _keys_of(annotation: Any) -> Any:
    """Return the type of the keys of a mapping, or None for another type."""
    arguments = get_args(annotation)
    return arguments[0] if len(arguments) == 2 else None
