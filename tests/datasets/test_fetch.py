"""Where fetched files come from, and everything that can go wrong on the way."""

import errno
import gzip
import lzma
import os
import re

import pytest
from toy_data_set import CONTENT, UNREACHABLE, dataset, left_in, put, remote, sha256

from datasets import DataError, fetch
from datasets.fetching.data_error import wrong_file

# Where files come from


@pytest.mark.parametrize("compressed", [False, True])
def test_mirror_url(server, data, compressed):
    name = "file.bin.xz" if compressed else "file.bin"
    put(server.folder, name, lzma.compress(CONTENT) if compressed else CONTENT)
    target = fetch(dataset(remote(urls=[UNREACHABLE])), data, mirror=f"{server.url}/")
    assert (target / "file.bin").read_bytes() == CONTENT
    assert all("matrix-noise-bench" in agent for agent in server.agents)
    expected = ["/toy/file.bin", "/toy/file.bin.xz"] if compressed else ["/toy/file.bin"]
    assert server.requests == expected


def test_official_addresses_in_order(server, data, capsys):
    """A server that refuses is asked once."""
    put(server.folder)
    places = ["/gone.bin", "/denied/f", "/toy/file.bin", "/never.bin"]
    fetch(dataset(remote(urls=[f"{server.url}{place}" for place in places])), data)
    assert server.requests == places[:3]
    assert f"warning: {server.url}/denied/f: HTTP 403 Forbidden;" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "reason"),
    [("file.bin", "Too many levels of symbolic links"), ("/proc/self/mem", "Input/output error")],
)
def test_a_mirror_that_cannot_be_read_is_blamed_and_not_the_folder(tmp_path, data, target, reason):
    """The mirror is a link to itself, or a file of /proc that cannot be read at its start."""
    place = tmp_path / "mirror" / "toy" / "file.bin"
    place.parent.mkdir(parents=True)
    place.symlink_to(target)
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert re.search(rf"{place}: cannot be read \(.*{reason}", str(caught.value))
    assert "make the folder writable" not in str(caught.value)


def test_a_corrupt_mirror_is_reported_and_passed_over(server, tmp_path, data, capsys):
    put(server.folder)
    put(tmp_path / "mirror", content=b"wrong")
    toy = dataset(remote(urls=[f"{server.url}/toy/file.bin"]))
    target = fetch(toy, data, mirror=tmp_path / "mirror")
    assert (target / "file.bin").read_bytes() == CONTENT
    begins = f"wrong content, it begins with 'wrong', sha256 {sha256(b'wrong')}"
    warning = f"warning: {tmp_path}/mirror/toy/file.bin: {begins}"
    assert warning in capsys.readouterr().err


def test_a_checksum_may_be_its_first_digits(tmp_path, data):
    toy = dataset(remote(sha256=sha256(CONTENT)[:8]))
    put(tmp_path / "mirror")
    fetch(toy, data, mirror=tmp_path / "mirror")
    assert left_in(data) == ["file.bin"]
    put(data, content=b"changed")
    with pytest.raises(DataError, match=f"expected sha256 {sha256(CONTENT)[:8]}. Delete"):
        fetch(toy, data)


def test_only_missing_files_are_fetched(server, data):
    put(server.folder, "a")
    put(server.folder, "b")
    toy = dataset(*(remote(name, urls=[f"{server.url}/toy/{name}"]) for name in "ab"))
    put(data, "a")
    for _ in range(2):
        fetch(toy, data)
        assert server.requests == ["/toy/b"]


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_failing_server_is_asked_again(server, data, code):
    put(server.folder)
    server.code = code
    fetch(dataset(remote(urls=[f"{server.url}/flaky/toy/file.bin"])), data)
    assert server.requests == ["/flaky/toy/file.bin"] * 3


def test_a_downloaded_file_has_the_permissions_of_any_new_file(server, data):
    put(server.folder)
    path = fetch(dataset(remote(urls=[f"{server.url}/toy/file.bin"])), data) / "file.bin"
    (data / "other").touch()
    assert path.stat().st_mode == (data / "other").stat().st_mode


# Refusals


def test_a_corrupted_local_file_is_reported_not_replaced(tmp_path, data):
    put(tmp_path / "mirror")
    path = put(data, content=b"changed")
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert str(caught.value) == (
        f"{path} has the wrong content: it begins with 'changed', sha256 {sha256(b'changed')}, "
        f"expected sha256 {sha256(CONTENT)}. "
        "Delete it, then fetch toy again: a file that is there is never replaced"
    )
    assert path.read_bytes() == b"changed"
    path.unlink()
    fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lzma.compress(CONTENT)[:-20], "ended before the end-of-stream marker"),
        (b"<html>", "not supported by decoder.*, it begins with '<html>'"),
    ],
)
def test_a_damaged_xz_file(tmp_path, data, content, message):
    put(tmp_path / "mirror", "file.bin.xz", content)
    with pytest.raises(DataError, match=rf"file\.bin\.xz: cannot be read \(.*{message}"):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []


@pytest.mark.parametrize("published", [None, sha256(CONTENT)])
def test_a_download_cut_short_leaves_nothing(server, data, published):
    toy = dataset(remote(sha256=published, bytes=None, check=print))
    with pytest.raises(DataError, match=r"failed with 0 bytes written \(IncompleteRead\(100 bytes"):
        fetch(toy, data, mirror=f"{server.url}/short")
    assert server.requests == ["/short/toy/file.bin"] * 3 + ["/short/toy/file.bin.xz"] * 3
    assert left_in(data) == []


def test_unreachable_host_says_what_to_do(data, tmp_path, capsys):
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote(urls=[UNREACHABLE])), data, mirror=tmp_path)
    assert str(caught.value) == (
        f"toy could not be fetched: {UNREACHABLE}: the transfer failed with 0 bytes written "
        f"([Errno 111] Connection refused), 3 attempts; {tmp_path}/toy/file.bin: no such file; "
        f"{tmp_path}/toy/file.bin.xz: no such file. "
        "Set DATA_MIRROR (or data.mirror in the config) to a folder or URL laid out as "
        f"<mirror>/toy/<file>[.xz], or download {UNREACHABLE} and save it as file.bin in "
        f"{data}/toy; then fetch toy again"
    )
    assert capsys.readouterr().err == f"downloading {UNREACHABLE}\n"
    assert left_in(data) == []


def test_many_failures_still_fit_in_one_line(server, tmp_path, data):
    put(tmp_path / "mirror", content=b"wrong")
    put(server.folder, "other", b"other")
    urls = [UNREACHABLE, f"{server.url}/toy/other", f"{server.url}/gone", f"{server.url}/short/f"]
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote(urls=urls)), data, mirror=tmp_path / "mirror")
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert sha256(b"wrong") in message
    assert "and 3 more failures" in message


@pytest.mark.parametrize(
    "mirror",
    [
        *("missing", "file:///tmp/mirror", "ftp://host/mirror", "a" * 5000),
    ],
)
def test_a_mirror_that_is_no_folder_is_an_error_of_one_line(server, data, mirror):
    put(server.folder)
    toy = dataset(remote(urls=[f"{server.url}/toy/file.bin"]))
    with pytest.raises(
        DataError, match=f"mirror {re.escape(mirror)}.* set --mirror, DATA_MIRROR"
    ) as caught:
        fetch(toy, data, mirror=mirror)
    assert "\n" not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_written(tmp_path, data, monkeypatch, number):
    """The refusal is simulated, because the superuser may write anywhere."""

    def refuse(*arguments, **fields):
        raise OSError(number, os.strerror(number), str(data))

    put(tmp_path / "mirror")
    monkeypatch.setattr("datasets.fetching.download.os.replace", refuse)
    with pytest.raises(DataError, match=f"{os.strerror(number)}.*; make the folder writable"):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []


# Other content in place of the data


def test_a_content_encoding_is_that_of_the_file(server, data):
    """Some servers state an encoding for a file that is itself compressed."""
    packed = gzip.compress(CONTENT, mtime=0)
    put(server.folder, "file.gz", packed)
    server.encoding = "gzip"
    toy = dataset(remote("file.gz", packed, urls=[f"{server.url}/toy/file.gz"]))
    assert (fetch(toy, data) / "file.gz").read_bytes() == packed


INSTEAD = {
    b"": "it is empty",
    bytes(100): "it begins with zeros",
    b"<!DOCTYPE html><p>Sign in</p>": "it begins with '<!DOCTYPE html><p>Sign in</p>'",
    b'{"message": "rate limit"}': """it begins with '{"message": "rate limit"}'""",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n": "//git-lfs.github.com",
}


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("content", INSTEAD, ids=INSTEAD.values())
def test_unexpected_content_is_shown_with_its_place(server, data, content, published):
    def refuse(path):
        raise wrong_file(path, "not the file")

    put(server.folder, content=content)
    known = {} if published else {"sha256": None, "check": refuse}
    toy = dataset(remote(**known))
    with pytest.raises(DataError) as caught:
        fetch(toy, data, mirror=server.url)
    assert INSTEAD[content] in str(caught.value)
    assert f"{server.url}/toy/file.bin: " in str(caught.value)
    assert "Set DATA_MIRROR" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert left_in(data) == []
    put(data, content=content)
    with pytest.raises(DataError, match=re.escape(INSTEAD[content])):
        fetch(toy, data)


@pytest.mark.parametrize("sent", [0, 300_000])
def test_a_transfer_that_stalls_says_after_how_many_bytes(server, data, monkeypatch, sent):
    monkeypatch.setattr("datasets.fetching.download.TIMEOUT_SECONDS", 0.1)
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote(urls=[f"{server.url}/stalls/{sent}"])), data)
    (arrived,) = re.findall(r"the transfer stalled with ([\d,]+) bytes written", str(caught.value))
    assert sent - 1024 < int(arrived.replace(",", "")) <= sent
    assert server.requests == [f"/stalls/{sent}"] * 3


@pytest.mark.parametrize("kept", [8, 63])
@pytest.mark.parametrize("kind", ["sha256", "recorded"])
def test_every_digit_of_a_checksum_counts(tmp_path, data, kind, kept):
    """A checksum that matches only in its first digits belongs to another file."""
    digits = sha256(CONTENT)
    wrong = digits[:kept] + "".join("1" if digit == "0" else "0" for digit in digits[kept:])
    put(data)
    toy = dataset(remote(sha256=wrong))
    if kind == "recorded":
        (data / "toy/SHA256SUMS").write_text(f"{wrong}  file.bin\n")
        toy = dataset(remote(sha256=None, check=lambda path: None))
    with pytest.raises(DataError, match=f"has the wrong content: .* {wrong}"):
        fetch(toy, data)
