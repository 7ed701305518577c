"""Swarm Behaviour: 24,016 snapshots of 200 boids, 12 numbers each, flocking or not.

One record is one snapshot, that is one row of 2,400 features.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.archives import read_members
from datasets.formats.tables import Numbers, Records, header_of, matrix, read_table

ENTRY = Dataset(
    name="swarm",
    title="Swarm Behaviour (boids: aligned, flocking, grouped)",
    source="official",
    licence="CC BY 4.0",
    citation="Abpeikar, Kasmarik, Barlow, Khan. Swarm Behaviour. UCI Machine Learning "
    "Repository, 2020. doi:10.24432/C5N02J",
    record="one snapshot of 200 boids",
    rows={"flocking": 24_016},
    # No checksum is published, and it is not known whether both addresses serve the same bytes.
    # UCI's page states 24,017 records because it counts the header line.
    files=(
        RemoteFile(
            name="swarm_behaviour.zip",
            urls=(
                "https://archive.ics.uci.edu/static/public/524/swarm+behaviour.zip",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/00524/"
                "Swarm%20Behavior%20Data.zip",
            ),
            check=lambda path: parse(path),
        ),
    ),
)


COLUMNS = 2400
OF_A_BOID = 12
_TABLE = "Flocking.csv"
_MOST_BYTES = 2 << 30
_FEATURE = Numbers(-1e9, 1e9, missing=True)  # in units of a screen


def parse(archive: Path) -> Records:
    """Return the 2,400 features of every snapshot, not scaled, and its class: 1 flocking, 0 not.

    The archive has `Flocking.csv` in any folder: a header, and a line per snapshot. A line has, for
    each boid, its position, velocity, the alignment, separation and cohesion vectors and two counts
    of neighbours, and ends with the class. The names of the columns are not known here. If most
    names of the first boid's columns end in 1, every other boid must have the same names with its
    own number, in the same order. An empty cell becomes NaN: users of the data report one, in the
    first column of the last record. Each study decides how to treat it.

    Raises:
        DataError: a file is not the published one.
    """
    features = [f"feature {k}" for k in range(1, COLUMNS + 1)]
    columns = {name: _FEATURE for name in features} | {"class": Numbers(0, 1, whole=True)}
    place = f"{archive}: {_TABLE}"
    content = read_members(archive, {_TABLE: _MOST_BYTES})[_TABLE]
    header = header_of(content, place)
    of_first = header[:OF_A_BOID]
    if sum(cell.endswith("1") for cell in of_first) > OF_A_BOID / 2:
        boids = range(1, COLUMNS // OF_A_BOID + 1)
        names = [f"{cell.removesuffix('1')}{boid}" for boid in boids for cell in of_first]
        header = [*names, header[-1]]
    table = read_table(content, columns, place, header=header, missing=("", " "))
    require_rows(ENTRY, flocking=len(table["class"]))
    return Records(features=matrix(table, features), targets=table["class"])
