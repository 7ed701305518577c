"""Where fetched files come from, and everything that can go wrong on the way."""

import errno
import gzip
import lzma
import os
import re
import signal
import subprocess
import sys
import time
from unittest.mock import Mock

import pooch
import pytest
from toy_data_set import CONTENT, UNREACHABLE, dataset, left_in, put, remote, sha256

from datasets import DataError, fetch
from datasets.fetching.download import DownloadError, NotThereError, download

DAMAGED = lzma.compress(CONTENT)[:-20]


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


def test_mirror_is_tried_before_the_official_address(server, tmp_path, data):
    put(server.folder)
    put(tmp_path / "mirror")
    fetch(dataset(remote(urls=[f"{server.url}/toy/file.bin"])), data, mirror=tmp_path / "mirror")
    assert server.requests == []


def test_official_addresses_in_order(server, data):
    put(server.folder)
    urls = [f"{server.url}/gone.bin", f"{server.url}/toy/file.bin", f"{server.url}/never.bin"]
    fetch(dataset(remote(urls=urls)), data)
    assert server.requests == ["/gone.bin", "/toy/file.bin"]


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
    assert f"{place}: cannot be read ({reason})" in str(caught.value)
    assert "make the folder writable" not in str(caught.value)


def test_a_corrupt_mirror_is_reported_and_passed_over(server, tmp_path, data, capsys):
    put(server.folder)
    put(tmp_path / "mirror", content=b"wrong")
    toy = dataset(remote(urls=[f"{server.url}/toy/file.bin"]))
    target = fetch(toy, data, mirror=tmp_path / "mirror")
    assert (target / "file.bin").read_bytes() == CONTENT
    warning = f"warning: {tmp_path}/mirror/toy/file.bin: wrong content, sha256 {sha256(b'wrong')}"
    assert capsys.readouterr().err.startswith(warning)


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
        f"{path} has the wrong content: sha256 {sha256(b'changed')}, "
        f"expected sha256 {sha256(CONTENT)}. "
        "Delete it, then fetch toy again: a file that is there is never replaced"
    )
    assert path.read_bytes() == b"changed"
    path.unlink()
    fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "message"),
    [(DAMAGED, "truncated xz file"), (b"not xz at all", "damaged xz file")],
)
def test_damaged_xz(tmp_path, data, content, message):
    put(tmp_path / "mirror", "file.bin.xz", content)
    with pytest.raises(DataError, match=message):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []


@pytest.mark.parametrize("published", [None, sha256(CONTENT)])
def test_a_download_cut_short_leaves_nothing(server, data, published):
    toy = dataset(remote(sha256=published, bytes=None, check=print))
    with pytest.raises(DataError, match=r"broke off \(IncompleteRead\(100 bytes read, 900 more"):
        fetch(toy, data, mirror=f"{server.url}/short")
    assert server.requests == ["/short/toy/file.bin"] * 3 + ["/short/toy/file.bin.xz"] * 3
    assert left_in(data) == []


def test_an_xz_with_a_dictionary_beyond_the_memory(tmp_path, data, monkeypatch):
    put(tmp_path / "mirror", "file.bin.xz", lzma.compress(CONTENT))
    monkeypatch.setattr("lzma.LZMAFile.read", Mock(side_effect=MemoryError))
    with pytest.raises(DataError, match="damaged xz file, or too little memory"):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")


@pytest.mark.parametrize("size", [len(CONTENT) - 1, None])
def test_a_bomb_of_xz_fills_no_disk(tmp_path, data, monkeypatch, size):
    """The published size limits how much is unpacked, or else a limit for all files."""
    put(tmp_path / "mirror", "file.bin.xz", lzma.compress(CONTENT))
    monkeypatch.setattr("datasets.entry.MAX_BYTES", len(CONTENT) - 1)
    with pytest.raises(DataError, match=r"file\.bin: wrong content, more than 899 bytes"):
        fetch(dataset(remote(bytes=size)), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []
    monkeypatch.setattr("datasets.entry.MAX_BYTES", len(CONTENT))
    fetch(dataset(remote(bytes=size and size + 1)), data, mirror=tmp_path / "mirror")


def test_a_server_that_never_ends_is_cut_off(server, data):
    """The server announces a terabyte for a file of one byte."""
    with pytest.raises(
        DataError, match=r"/endless/f: nothing but zeros, wrong content, more than \d+,\d+ bytes"
    ):
        fetch(dataset(remote(bytes=1, urls=[f"{server.url}/endless/f"])), data)
    assert server.requests == ["/endless/f"]
    assert left_in(data) == []


def test_ctrl_c_leaves_nothing(server, data, monkeypatch):
    def interrupt(self, url, output_file, depot):
        with open(output_file, "wb") as stream:
            stream.write(CONTENT[:7])
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(dataset(remote(urls=[f"{server.url}/toy/file.bin"])), data)
    assert list((data / "toy").iterdir()) == []


def test_a_killed_fetch_leaves_nothing_that_looks_finished(tmp_path, data):
    """SIGKILL hits a process while it downloads from a server that never ends its answer."""
    program = f"""
import http.server, threading, time
from datasets import fetch
from datasets.entry import Dataset, RemoteFile
class Endless(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        while True:
            self.wfile.write(bytes(1 << 16))
            time.sleep(0.001)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
threading.Thread(target=server.serve_forever, daemon=True).start()
file = RemoteFile(name="file.bin", sha256="0",
                  urls=(f"http://127.0.0.1:{{server.server_port}}/f",))
fetch(Dataset(name="toy", title="", source="official", licence="", citation="", record="",
              rows={{}}, files=(file,)), {str(data)!r})
"""
    environment = os.environ | {"no_proxy": "127.0.0.1"}
    process = subprocess.Popen([sys.executable, "-c", program], env=environment)
    try:
        deadline = time.monotonic() + 30
        while not any(path.is_file() and path.stat().st_size for path in data.rglob("*")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (data / "toy" / "file.bin").exists()
    put(tmp_path / "mirror")
    fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert (data / "toy" / "file.bin").read_bytes() == CONTENT


def test_unreachable_host_says_what_to_do(data, tmp_path, capsys):
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote(urls=[UNREACHABLE])), data, mirror=tmp_path)
    assert str(caught.value) == (
        f"toy could not be fetched: {UNREACHABLE}: no connection (Connection refused; 3 attempts); "
        f"{tmp_path}/toy/file.bin: no such file. "
        "Set DATA_MIRROR (or data.mirror in the config) to a folder or URL laid out as "
        f"<mirror>/toy/<file>[.xz], or download {UNREACHABLE} and save it as {data}/toy/file.bin "
        f"(sha256 {sha256(CONTENT)}); then fetch toy again"
    )
    assert capsys.readouterr().err == ""
    assert left_in(data) == []


def test_a_missing_file_is_distinguished_from_a_refusal(server, tmp_path):
    for path, kind in {"gone": NotThereError, "denied/f": DownloadError}.items():
        with pytest.raises(DownloadError) as caught:
            download(f"{server.url}/{path}", remote(), tmp_path, {})
        assert type(caught.value) is kind


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


def test_a_host_that_does_not_answer_is_not_asked_again(data, monkeypatch):
    asked = []
    transfer = pooch.HTTPDownloader.__call__
    monkeypatch.setattr(
        pooch.HTTPDownloader,
        "__call__",
        lambda self, url, *arguments: (asked.append(url), transfer(self, url, *arguments)),
    )
    again = "http://127.0.0.1:9/again.bin"
    with pytest.raises(DataError, match=f"{UNREACHABLE}, {again}: no connection"):
        fetch(dataset(remote(urls=[UNREACHABLE, again])), data)
    assert asked == [UNREACHABLE] * 3


def test_a_refusing_server_is_asked_once(server, data):
    with pytest.raises(DataError, match="/denied/f: HTTP 403 Forbidden"):
        fetch(dataset(remote(urls=[f"{server.url}/denied/f"])), data)
    assert server.requests == ["/denied/f"]


@pytest.mark.parametrize(
    "mirror",
    [
        *("missing", "file:///tmp/mirror", "ftp://host/mirror", "a" * 5000),
        *("http://", "http://[::1", "http://host:99999"),
    ],
)
def test_a_mirror_that_cannot_be_read_is_an_error_of_one_line(server, data, mirror):
    put(server.folder)
    toy = dataset(remote(urls=[f"{server.url}/toy/file.bin"]))
    with pytest.raises(
        DataError, match=f"mirror {re.escape(mirror)}.* set --mirror, DATA_MIRROR"
    ) as caught:
        fetch(toy, data, mirror=mirror)
    assert "\n" not in str(caught.value)
    assert server.requests == []


def test_a_file_in_place_of_the_data_folder(tmp_path):
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(DataError, match="choose another one with --folder"):
        fetch(dataset(remote()), tmp_path / "data")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EACCES, "Permission denied.*make the folder writable"),
        (errno.ENOSPC, "No space left on device.*; make room in the folder, or"),
    ],
)
def test_a_folder_that_cannot_be_written(tmp_path, data, monkeypatch, number, words):
    """The refusal is simulated, because the superuser may write anywhere."""

    def refuse(*arguments, **fields):
        raise OSError(number, os.strerror(number), str(data))

    put(tmp_path / "mirror")
    monkeypatch.setattr("datasets.fetching.download.os.replace", refuse)
    with pytest.raises(DataError, match=words):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []


# Other content in place of the data

PACKED = gzip.compress(CONTENT, mtime=0)


@pytest.mark.parametrize(
    ("wanted", "sent", "encoding"),
    [
        (PACKED, PACKED, "gzip"),
        (PACKED, gzip.compress(PACKED, mtime=0), "gzip"),
        (CONTENT, PACKED, "gzip"),
        (CONTENT, PACKED, "x-gzip"),
        (CONTENT, CONTENT, "gzip"),
        (CONTENT, CONTENT, "br"),
    ],
)
def test_a_content_encoding_may_be_that_of_the_file(server, data, wanted, sent, encoding):
    put(server.folder, "file.gz", sent)
    server.encoding = encoding
    toy = dataset(remote("file.gz", wanted, urls=[f"{server.url}/toy/file.gz"]))
    assert (fetch(toy, data) / "file.gz").read_bytes() == wanted


@pytest.mark.parametrize(
    ("sent", "encoding", "words"),
    [
        (b"other", "br", "expected sha256 .*, sent with Content-Encoding br, which was not asked"),
        (b"other", "gzip", "wrong content, sha256"),
        (gzip.compress(b"<html>", mtime=0), "gzip", r"a web page \(HTML\) instead of file.bin"),
        (gzip.compress(bytes(10_000), mtime=0), "gzip", "more than 900 bytes"),
        (PACKED[:-9], "gzip", "wrong content, a gzip file instead of file.bin"),
    ],
)
def test_a_content_encoding_does_not_hide_what_is_wrong(server, data, sent, encoding, words):
    put(server.folder, content=sent)
    server.encoding = encoding
    with pytest.raises(DataError, match=words):
        fetch(dataset(remote(urls=[f"{server.url}/toy/file.bin"])), data)
    assert left_in(data) == []


INSTEAD = {
    b"": "an empty file",
    bytes(100): "nothing but zeros",
    b"<!DOCTYPE html><p>Sign in</p>": "a web page (HTML)",
    b"\xef\xbb\xbf\n <!-- a --> <HTML lang=en>": "a web page (HTML)",
    "<html>".encode("utf-16"): "a web page (HTML)",
    b"<?xml version='1.0'?><!DOCTYPE html>": "a web page (HTML)",
    b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>": "an XML document",
    b'{"message": "rate limit"}': "JSON",
    b'[{"a": [1]}, ' + b'"b", ' * 2000: "JSON",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n": "a pointer of Git LFS",
    b"../../.git/annex/objects/Xx/Yy/MD5-s9--0\n": "a pointer of git-annex",
    b"%PDF-1.7": "a PDF",
    b"[" * 4000: "JSON",
    b"PK\x03\x04": "a zip archive",
}


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("content", INSTEAD, ids=INSTEAD.values())
def test_unexpected_content_is_named_with_its_place(tmp_path, data, content, published):
    place = put(tmp_path / "mirror", content=content)
    known = {} if published else {"sha256": None, "check": lambda path: None}
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote(bytes=10**6, **known)), data, mirror=tmp_path / "mirror")
    assert f"{INSTEAD[content]} instead of file.bin" in str(caught.value)
    assert str(place) in str(caught.value)
    assert "Set DATA_MIRROR" in str(caught.value)
    assert "no such file" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_page_in_place_of_an_xz_file_or_by_hand_is_named(tmp_path, data):
    put(tmp_path / "mirror", "file.bin.xz", b"<html>")
    with pytest.raises(DataError, match=r"bin: a web page \(HTML\) instead of an xz file"):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    put(data, content=b"<html>" * 10**4)
    with pytest.raises(DataError, match=r"a web page \(HTML\) instead of file\.bin"):
        fetch(dataset(remote()), data)


@pytest.mark.parametrize("sent", [0, 100, 300_000])
def test_a_transfer_that_stalls_says_after_how_many_bytes(server, data, monkeypatch, sent):
    monkeypatch.setattr("datasets.fetching.download.TIMEOUT_SECONDS", 0.1)
    urls = [f"{server.url}/stalls/{sent}", f"{server.url}/again"]
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote(bytes=10**6, urls=urls)), data)
    said = "stalled after 294,912 bytes" if sent > 8192 else "stalled in its first 8,192 bytes"
    assert said in str(caught.value)
    assert server.requests == [f"/stalls/{sent}"] * 3


@pytest.mark.parametrize("kept", [1, 8, 32, 63])
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


@pytest.mark.parametrize("more", ["0", "00" * 20])
def test_a_checksum_with_extra_digits_is_a_different_one(data, more):
    put(data)
    with pytest.raises(DataError, match="has the wrong content"):
        fetch(dataset(remote(sha256=sha256(CONTENT) + more)), data)
