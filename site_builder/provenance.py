"""How to reproduce each number: commands, the config of the run, the commit and the seed."""

from dataclasses import dataclass
from pathlib import Path

from runs.provenance import commit_of_tree
from studies.base.yaml_file import read_yaml

CONFIGS = Path("config")


@dataclass(frozen=True)
class Provenance:
    """The origin of a run.

    Args:
        run: The name of the run.
        config: The path of its config, or None if no file in config/ has this run.
        seed: The seed from which all others derive, or None.
        commit: The commit of the code that built the site; "" outside of git.
    """

    run: str
    config: str | None
    seed: int | None
    commit: str

    def cell(self, study: str, dataset: str, mechanism: str, calibration: str) -> str:
        """Return the command that runs one cell."""
        return (
            f"python -m runs run {study} --dataset {dataset} --mechanism {mechanism} "
            f"--calibration {calibration} --config {self.config or 'YOUR_CONFIG.yaml'}"
        )

    def drawing(self, name: str) -> str:
        """Return the command that runs everything a drawing needs and draws it."""
        return f"snakemake --cores 4 --configfile {self.config or 'YOUR_CONFIG.yaml'} {name}"


def provenance_of(run: str) -> Provenance:
    """Look up the provenance of a run in the working directory."""
    config, seed = None, None
    # Most configs are named after their run; trying that first avoids reading large ones in vain.
    for path in sorted(CONFIGS.glob("*.yaml"), key=lambda path: (path.stem != run, path)):
        content = read_yaml(path)
        if content.get("run") == run:
            config, seed = str(path), content.get("seed")
            break
    return Provenance(run, config, seed, commit_of_tree().removesuffix("-dirty"))
