"""Template of a data set: copy this file to `datasets/loaders/<name>.py` and edit it.

Nothing else has to be edited but tests: `python -m datasets list` and `fetch` find the file, and
`datasets.load("<name>")` reads it. Replace this text with what the data are, where they come from
and what else a reader has to know, such as rows that the publisher left out.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.formats.tables import Numbers, Records, matrix, read_table

ENTRY = Dataset(
    name="my_data",  # the name of this file; also of the folder and of the data set in configs
    title="My data",
    # "official": downloaded. "bundled" (comes with a package) and "simulated" have no `files`, and
    # they have `load()` in place of `parse`.
    source="official",
    licence="CC BY 4.0",  # or "no licence stated"
    citation="Author. Title. Publisher, year. doi:...",
    record="one person",  # what adjacent data sets differ by
    rows={"records": 3},  # the published number of records of each part
    files=(
        RemoteFile(
            name="my_data.csv",
            urls=("https://example.org/my_data.csv",),  # several: tried in this order
            bytes=22,
            sha256="6e20c041a94f2a2fc9b0895140ed3cb63dcb8be3dd07ebba094e3c5378665df5",
            # Where no sha256 is published, leave it out and state a check that reads the file and
            # raises DataError if it is wrong: check=lambda path: parse(path)
        ),
    ),
    # Where the publisher packs the files into a zip or tar, leave `urls` of the files out and add
    # archive=RemoteFile(name="my_data.zip", urls=(...), sha256=...).
    # Where nothing can be downloaded directly, say what to do:
    # manual="fill in the form at https://example.org, take the csv file"
)


# The values that cells may have: every cell is checked before any is cast.
COLUMNS = {
    "height": Numbers(0, 10),
    "weight": Numbers(0, 10),
    "label": Numbers(0, 1, whole=True),
}


def parse(path: Path) -> Records:
    """All records: two measurements and the class per line, no header (`header=` compares one).

    The type is yours to choose: a dataclass of what the data set has.

    `datasets.load` calls it with the verified files, in the order of `ENTRY.files`.

    Raises:
        DataError: a cell is not allowed, or not 3 records.
    """
    table = read_table(path.read_bytes(), COLUMNS, path)
    require_rows(ENTRY, records=len(table["label"]))
    return Records(features=matrix(table, ["height", "weight"]), targets=table["label"])
