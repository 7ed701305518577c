"""Loaders of tables and of measurements, on small files in the official formats."""

import struct
import zipfile

import numpy as np
import pytest
from loader_contract import LoaderContract

from datasets import DataError
from datasets.loaders import (
    adult,
    cardiotocography,
    darknet2020,
    swarm,
    uber,
)

PERSON = "Bachelors, 13, Never-married, {}, Not-in-family, White, Male, 2174, 0, 40, United-States"


def ctg_rows():
    """The sheet `Data` as cells: numbering, header, records, and summary rows at the end."""
    header = ["b", "e", "AC", "FM", "UC", "DL", "DS", "DP", "DR", "", *cardiotocography.FEATURES]
    header += ["", "A", "B", "C", "D", "E", "AD", "DE", "LD", "FS", "SUSP", "", "CLASS", "", "NSP"]
    first = [240.0, 357.0] + [7.0] * 7 + [""] + [k + 0.5 for k in range(21)]
    first += [""] + [-1.0] * 10 + ["", 9.0, "", 2.0]
    second = [*first[:-3], 6.0, "", 1.0]
    blank = [""] * len(header)
    return [blank, header, first, second, blank, [*blank[:12], 564.0, *blank[13:]]]


def write_adult(folder):
    train = f"39, State-gov, 77516, {PERSON.format('Sales')}, <=50K\n"
    train += f"50, ?, 83311, {PERSON.format('?')}, >50K\n\n"
    (folder / "adult.data").write_text(train)
    test = f"|1x3 Cross validator\n25, Private, 226802, {PERSON.format('Sales')}, >50K.\n\n"
    (folder / "adult.test").write_text(test)
    (folder / "adult.names").write_text("| a description\n")
    return {"train": 2, "test": 1}


def check_adult(data):
    assert list(data.train.columns) == list(adult.COLUMNS)
    assert data.train["age"].tolist() == [39, 50]
    assert data.train["capital-gain"].dtype == np.int64
    assert data.train["workclass"].isna().tolist() == [False, True]
    assert data.train["occupation"].isna().tolist() == [False, True]
    assert data.train["income"].tolist() == ["<=50K", ">50K"]
    assert data.test["income"].tolist() == [">50K"]
    assert data.test.loc[0, "native-country"] == "United-States"


def write_uber(folder):
    (folder / "uber-raw-data-apr14.csv").write_text(
        '"Date/Time","Lat","Lon","Base"\n"4/1/2014 0:11:00",40.769,-73.9549,"B02512"\n'
        '"4/30/2014 23:48:00",40.688,-73.9608,"B02764"\n'
    )
    return {"pickups": 2}


def check_uber(data):
    assert data.time.dtype == "datetime64[s]"
    assert data.time.astype(str).tolist() == ["2014-04-01T00:11:00", "2014-04-30T23:48:00"]
    assert data.latitude.tolist() == [40.769, 40.688]
    assert data.longitude.tolist() == [-73.9549, -73.9608]


def write_liver_disorders(folder):
    (folder / "bupa.data").write_text("85,92,45,27,31,0.0,1\n91,68,27,26,14,16.5,2\n")
    return {"records": 2}


def check_liver_disorders(data):
    assert data.features.tolist() == [[85, 92, 45, 27, 31], [91, 68, 27, 26, 14]]
    assert data.drinks.tolist() == [0.0, 16.5]
    assert data.selector.tolist() == [1, 2]


def write_cardiotocography(folder):
    write_workbook(folder / "CTG.xls", ctg_rows())
    return {"records": 2}


def write_workbook(path, rows):
    """A workbook of Excel 97 (BIFF8) with the sheet Data, record by record."""

    def record(kind, content=b""):
        return struct.pack("<HH", kind, len(content)) + content

    def text(value):
        return struct.pack("<HB", len(value), 0) + value.encode("latin1")

    start = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 1997, 0, 6))
    sheet = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 1997, 0, 6))
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            place = struct.pack("<HHH", i, j, 0)
            if isinstance(cell, float):
                sheet += record(0x0203, place + struct.pack("<d", cell))
            elif cell:
                sheet += record(0x0204, place + text(cell))
    name = struct.pack("<BB", 4, 0) + b"Data"
    offset = len(start) + 4 + 6 + len(name) + 4
    bound = record(0x0085, struct.pack("<IBB", offset, 0, 0) + name)
    path.write_bytes(start + bound + record(0x000A) + sheet + record(0x000A))


def check_cardiotocography(data):
    assert data.features.tolist() == [[k + 0.5 for k in range(21)]] * 2
    assert data.pattern.tolist() == [9, 6]
    assert data.state.tolist() == [2, 1]


def write_swarm(folder):
    of_a_boid = "x{0},y{0},xVel{0},yVel{0},xA{0},yA{0},xS{0},yS{0},xC{0},yC{0},nAC{0},nS{0}"
    header = ",".join([*(of_a_boid.format(boid) for boid in range(1, 201)), "Class "])
    first = ",".join([f"{k}.5" for k in range(2400)] + ["1"])
    last = ",".join([" "] + [f"-{k}" for k in range(1, 2400)] + ["0"])
    with zipfile.ZipFile(folder / "swarm_behaviour.zip", "w") as archive:
        archive.writestr("Swarm Behavior Data/Aligned.csv", "other")
        archive.writestr("Swarm Behavior Data/Flocking.csv", f"{header}\n{first}\n{last}\n")
    return {"flocking": 2}


def check_swarm(data):
    assert data.features[0].tolist() == [k + 0.5 for k in range(2400)]
    assert np.isnan(data.features[1, 0])
    assert data.features[1, 1:].tolist() == [-k for k in range(1, 2400)]
    assert data.labels.tolist() == [1, 0]


def write_darknet2020(folder):
    header = ["Flow ID", "Src IP", *(f"F{k}" for k in range(80)), "Idle Min", "Label", "Label"]
    first = ["a-b", "10.0.0.1", "Infinity", "", *["0"] * 78, "1", "Non-Tor", "AUDIO-STREAMING"]
    second = ["c-d", "10.0.0.2", *["2.5"] * 80, "1", "VPN", "Chat"]
    rows = [",".join(row) for row in (header, first, second)]
    (folder / "Darknet.CSV").write_text("\n".join(rows) + "\n")
    return {"flows": 2}


def check_darknet2020(data):
    assert data.flows.shape == (2, 83)
    assert np.isinf(data.flows.loc[0, "F0"])
    assert np.isnan(data.flows.loc[0, "F1"])
    assert data.traffic.tolist() == ["Non-Tor", "VPN"]
    assert data.application.tolist() == ["AUDIO-STREAMING", "Chat"]


CASES = {
    "adult": (write_adult, check_adult),
    "uber": (write_uber, check_uber),
    "liver_disorders": (write_liver_disorders, check_liver_disorders),
    "cardiotocography": (write_cardiotocography, check_cardiotocography),
    "swarm": (write_swarm, check_swarm),
    "darknet2020": (write_darknet2020, check_darknet2020),
}


@pytest.mark.parametrize("name", CASES)
class TestContract(LoaderContract):
    cases = CASES


@pytest.mark.parametrize(
    ("cell", "other", "message"),
    [
        ("<=50K\n", "50K\n", "income: record 1 has '50K', allowed are <=50K >50K"),
        ("39, State", "39.5, State", "age: record 1 has '39.5', allowed are whole numbers 0..120;"),
        ("39, State", "?, State", "age: record 1 has nan, allowed"),
        ("Male", "?", "sex: record 1 has nan, allowed are Female Male;"),
        ("<=50K\n", "<=50K, 1\n", "Expected 16 fields in line 2, saw 15|not a table|16 columns"),
    ],
)
def test_adult_of_another_form(tmp_path, cell, other, message):
    write_adult(tmp_path)
    path = tmp_path / "adult.data"
    path.write_text(path.read_text().replace(cell, other))
    with pytest.raises(DataError, match=message):
        adult.parse(*(tmp_path / file.name for file in adult.ENTRY.files))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "Date/Time: record 1 has ''"),
        ("4/31/2014 0:11:00", "record 1 has '4/31/2014 0:11:00', allowed are times in April 2014"),
        ("4/1/2013 0:11:00", "record 1 has '4/1/2013 0:11:00'"),
        ("2014-04-01 00:11:00", "record 1 has '2014-04-01 00:11:00'"),
    ],
)
def test_uber_with_a_time_of_another_form(tmp_path, cell, message):
    write_uber(tmp_path)
    path = tmp_path / "uber-raw-data-apr14.csv"
    path.write_text(path.read_text().replace("4/1/2014 0:11:00", cell))
    with pytest.raises(DataError, match=message):
        uber.parse(path)


@pytest.mark.parametrize("folder", ["", "elsewhere/"])
def test_swarm_with_two_tables(tmp_path, folder):
    write_swarm(tmp_path)
    path = tmp_path / "swarm_behaviour.zip"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{folder}Flocking.csv", "other")
    with pytest.raises(DataError, match=r"it has two files Flocking\.csv"):
        swarm.parse(path)


@pytest.mark.parametrize("label", ["", "None", "NA", "NaN", "Chat room", "1"])
def test_darknet2020_needs_its_second_label(tmp_path, label):
    write_darknet2020(tmp_path)
    path = tmp_path / "Darknet.CSV"
    path.write_text(path.read_text().replace(",Chat\n", f",{label}\n"))
    with pytest.raises(DataError, match=r"Darknet\.CSV: application: record 2 has"):
        darknet2020.parse(path)
