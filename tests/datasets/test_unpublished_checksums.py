"""Files without a published checksum are inspected, recorded and later checked by the record."""

import pytest
from toy_data_set import CONTENT, dataset, left_in, put, remote, sha256, tar_bytes

import datasets
from datasets import DataError, fetch
from datasets.fetching.checksums import known_checksums, local_files
from datasets.fetching.data_error import wrong_file

PAGE = b"\n<!DOCTYPE html>\n<html><body>Please sign in</body></html>\n"


def anything(path):
    """The check of a data set that accepts every file."""


def starts_right(path):
    if not path.read_bytes().startswith(b"the right"):
        raise wrong_file(path, "it starts with other words")


def unpublished(name="file.bin", check=anything, **fields):
    return dataset(remote(name, sha256=None, bytes=None, check=check, **fields))


def test_an_entry_needs_a_checksum_or_a_check():
    with pytest.raises(ValueError, match=r"toy: file\.bin has neither sha256 nor check"):
        unpublished(check=None)


def test_the_checksum_is_printed_and_recorded(tmp_path, data, capsys):
    put(tmp_path / "mirror")
    toy = unpublished(check=starts_right)
    target = fetch(toy, data, mirror=tmp_path / "mirror")
    assert sha256(CONTENT) in capsys.readouterr().err
    assert (target / "SHA256SUMS").read_text() == f"{sha256(CONTENT)}  file.bin\n"
    fetch(toy, data)
    assert capsys.readouterr().err == ""


def test_known_checksums_are_those_of_the_packaging_that_is_there(data):
    official = remote("official.tgz", sha256=None, bytes=None, check=anything)
    toy = dataset(official, repack=remote("repack.tar", b"repacked"))
    assert known_checksums(toy, data / "toy") is None
    put(data, "repack.tar", b"repacked")
    assert known_checksums(toy, data / "toy") == {"repack.tar": sha256(b"repacked")}


def test_an_http_address_needs_a_checksum():
    """Without a checksum, anyone on the network path could replace the file."""
    for address in ("http://a.org/f", "HTTP://a.org/f"):
        with pytest.raises(ValueError, match=r"file\.bin has an http address and no sha256"):
            remote(sha256=None, check=anything, urls=["https://a.org/f", address])
    remote(sha256=None, check=anything, urls=["https://a.org/f"])
    remote(urls=["http://a.org/f"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file.bin: it starts with other words, it is empty"),
        (PAGE, "file.bin: it starts with other words, it begins with .*<!DOCTYPE html>"),
    ],
)
def test_a_wrong_file_is_neither_accepted_nor_recorded(server, data, content, message):
    """It comes from a mirror, or somebody put it into the folder."""
    toy = unpublished(check=starts_right)
    put(server.folder, content=content)
    with pytest.raises(DataError, match=message) as caught:
        fetch(toy, data, mirror=server.url)
    assert len(str(caught.value).splitlines()) == 1
    assert left_in(data) == []
    put(data, content=content)
    with pytest.raises(DataError, match=f"{message}.*; delete it and get"):
        fetch(toy, data)
    assert left_in(data) == ["file.bin"]


EMPTY_ZIP = b"PK\x05\x06" + bytes(18)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("swarm", EMPTY_ZIP, r"it has no Flocking\.csv"),
        ("movement_aal", EMPTY_ZIP, r"it has no MovementAAL_RSS_1\.csv"),
        ("purchase100", tar_bytes({"readme": b"text"}), "it has no dataset_purchase"),
        ("texas100", tar_bytes({"readme": b"text"}), "it has no feats"),
        ("darknet2020", b"a,b\n1,2\n", "2 columns, expected 85"),
    ],
)
def test_a_file_put_by_hand_is_read_by_its_loader(data, name, content, words):
    (file,) = datasets.DATASETS[name].files
    put(data, file.name, content, folder=name)
    with pytest.raises(DataError, match=words):
        fetch(name, data)
    assert left_in(data) == [file.name]


def test_a_change_is_found_by_the_record(tmp_path, data):
    """The file changes in the folder, and then in the mirror."""
    mirror = tmp_path / "mirror"
    put(mirror)
    toy = unpublished()
    path = fetch(toy, data, mirror=mirror) / "file.bin"
    path.write_bytes(b"changed")
    message = f"sha256 {sha256(b'changed')}, recorded sha256 {sha256(CONTENT)}.*delete its line"
    for use in (fetch, local_files):
        with pytest.raises(DataError, match=message):
            use(toy, data)
    path.unlink()
    put(mirror, content=b"changed")
    with pytest.raises(DataError, match=message):
        fetch(toy, data, mirror=mirror)
    assert left_in(data) == ["SHA256SUMS"]


def test_a_record_as_sha256sum_writes_it(data):
    path = put(data)
    digits = sha256(CONTENT)
    (path.parent / "SHA256SUMS").write_text(f"\n{digits.upper()} *file.bin\r\n{digits}  other")
    assert local_files(unpublished(), data) == {"file.bin": path}
    put(data, "b.bin")
    fetch(unpublished("b.bin"), data)
    assert local_files(unpublished("b.bin"), data)


@pytest.mark.parametrize("digits", [b"", b"9b", b"\xff" * 64, b"g" * 64, b"#" + b"0" * 64])
def test_a_damaged_record_accepts_no_file(data, digits):
    (put(data).parent / "SHA256SUMS").write_bytes(digits + b"  file.bin\n")
    for use in (fetch, local_files):
        with pytest.raises(DataError, match=r"SHA256SUMS has the line .*repair or delete"):
            use(unpublished(), data)


def test_a_file_put_by_hand_is_recorded_before_it_is_loaded(data):
    toy = unpublished()
    path = put(data)
    with pytest.raises(DataError, match=r"no recorded checksum; .*run: python -m"):
        local_files(toy, data)
    fetch(toy, data)
    assert local_files(toy, data) == {"file.bin": path}
