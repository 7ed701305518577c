"""Template of a data set: copy this file to `datasets/loaders/<name>.py` and edit it.

Nothing else has to be edited but tests: `python -m datasets list` and `fetch` find the file, and
`datasets.load("<name>")` reads the data. Replace this text with what the data are, where they come
from and what else a reader has to know, such as rows that the publisher left out.
"""

from pathlib import Path

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.formats.tables import Numbers, Records, matrix, read_table

ENTRY = Dataset(
    name="my_data",  # the name of this file, of the folder, and of the data set in configs
    title="My data",
    # "official" data are downloaded. "bundled" (in a package) and "simulated" data have no `files`,
    # and their module has `load()` in place of `parse`.
    source="official",
    licence="CC BY 4.0",  # or "no licence stated"
    citation="Author. Title. Publisher, year. doi:...",
    record="one person",  # the record by which neighbouring data sets differ
    rows={"records": 3},  # the published number of records of each part
    files=(
        RemoteFile(
            name="my_data.csv",
            urls=("https://example.org/my_data.csv",),  # several: tried in this order
            bytes=22,
            sha256="6e20c041a94f2a2fc9b0895140ed3cb63dcb8be3dd07ebba094e3c5378665df5",
            # If no sha256 is published, leave it out and state a check that reads the file and
            # raises DataError if the file is wrong: check=lambda path: parse(path)
        ),
    ),
    # If the publisher packs the files into a zip or tar file, leave out the `urls` of the files and
    # add archive=RemoteFile(name="my_data.zip", urls=(...), sha256=...).
    # If nothing can be downloaded directly, say what to do:
    # manual="fill in the form at https://example.org, take the csv file"
)


# The values that cells may have: every cell is checked before any is cast.
COLUMNS = {
    "height": Numbers(0, 10),
    "weight": Numbers(0, 10),
    "label": Numbers(0, 1, whole=True),
}


def parse(path: Path) -> Records:
    """Read the file, which has two measurements and the class on each line and no header.

    (`read_table` compares a header with `header=`.) Return a dataclass of your choice.
    `datasets.load` passes the verified files, in the order of `ENTRY.files`.

    Raises:
        DataError: A value is not allowed, or the file has not 3 records.
    """
    table = read_table(path.read_bytes(), COLUMNS, path)
    require_rows(ENTRY, records=len(table["label"]))
    return Records(features=matrix(table, ["height", "weight"]), targets=table["label"])
