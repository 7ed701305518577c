"""Cardiotocography: 2,126 fetal heart rate records, 21 features, from the sheet `Data`.

One record is one cardiotocogram.
"""

from pathlib import Path

import numpy as np
import xlrd

from datasets.entry import Dataset, RemoteFile, require_rows
from datasets.fetching.data_error import reading
from datasets.formats.tables import Numbers, Records, matrix, read_columns, require_header

ENTRY = Dataset(
    name="cardiotocography",
    title="Cardiotocography (SisPorto)",
    source="official",
    licence="CC BY 4.0",
    citation="Ayres de Campos, Bernardes, Garrido, Marques-de-Sa, Pereira-Leite. SisPorto "
    "2.0: a program for automated analysis of cardiotocograms. J. Matern. Fetal Med. 9, 2000",
    record="one cardiotocogram",
    rows={"records": 2_126},
    files=(
        RemoteFile(
            name="CTG.xls",
            urls=("https://archive.ics.uci.edu/ml/machine-learning-databases/00193/CTG.xls",),
            bytes=1743872,
            sha256="d6aa62e82625e59f9d5b05bc8fc52af9ea67bdf2a23f1faca8511d5618fcb421",
        ),
    ),
    archive=RemoteFile(
        name="cardiotocography.zip",
        urls=("https://archive.ics.uci.edu/static/public/193/cardiotocography.zip",),
    ),
)


FEATURES = (
    "LB",  # baseline heart rate, beats per minute
    "AC",  # accelerations per second
    "FM",  # fetal movements per second
    "UC",  # uterine contractions per second
    "DL",  # light decelerations per second
    "DS",  # severe decelerations per second
    "DP",  # prolonged decelerations per second
    "ASTV",  # percentage of time with abnormal short-term variability
    "MSTV",  # mean short-term variability
    "ALTV",  # percentage of time with abnormal long-term variability
    "MLTV",  # mean long-term variability
    "Width",  # from here on, of the heart rate histogram
    "Min",
    "Max",
    "Nmax",  # peaks
    "Nzeros",
    "Mode",
    "Mean",
    "Median",
    "Variance",
    "Tendency",
)
COLUMNS = {name: Numbers(-1, 1000) for name in FEATURES} | {"NSP": Numbers(1, 3, whole=True)}
_FIRST = 10  # column of LB; before it the sheet repeats raw counts under the same names
_HEADER_ROW = 1


def parse(path: Path) -> Records:
    """Return the 21 features, not scaled, and the fetal state: 1 normal, 2 suspect, 3 pathologic.

    The records of `CTG.xls` are the rows of the sheet `Data` that carry a state (column NSP).

    Raises:
        DataError: a file is not the published one.
    """
    with reading(path, "not the workbook of the CTG data"):
        sheet = xlrd.open_workbook(path).sheet_by_name("Data")
        # xlrd gives errors and booleans as numbers; the text of their cells is no number.
        rows = [
            [cell.value if isinstance(cell.value, float | str) else str(cell) for cell in row]
            for row in sheet.get_rows()
        ]
        header = rows[_HEADER_ROW]
        state = header.index("NSP")
    require_header(header[_FIRST : _FIRST + 21], FEATURES, f"{path}: sheet Data, from LB")
    records = np.array([row for row in rows[_HEADER_ROW + 1 :] if row[state] != ""], object)
    require_rows(ENTRY, records=len(records))
    cells = dict(zip(FEATURES, records[:, _FIRST:].T, strict=False))
    table = read_columns(cells | {"NSP": records[:, state]}, COLUMNS, path)
    return Records(features=matrix(table, FEATURES), targets=table["NSP"])
