"""Fetching: mirrors, checksums, archives, and everything that can go wrong on the way."""

import dataclasses
import hashlib
import io
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest

from datasets import DATASETS, DataError, fetch
from datasets.catalogue import Dataset, RemoteFile, find
from datasets.fetching.checksums import local_files

CONTENT = b"the right content\n" * 50
UNREACHABLE = "http://127.0.0.1:9/file.bin"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def remote(name="file.bin", content=CONTENT, urls=(), **fields):
    known = {"sha256": sha256(content), "bytes": len(content)} | fields
    return RemoteFile(name=name, urls=tuple(urls), **known)


def dataset(*files, **fields):
    return Dataset(
        name="toy",
        title="Toy",
        source="official",
        licence="none",
        citation="none",
        rows={},
        files=files,
        **fields,
    )


def put(root, name="file.bin", content=CONTENT, folder="toy"):
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def tar_bytes(members, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def left_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


# Where files come from


@pytest.mark.parametrize("compressed", [False, True])
def test_mirror_folder(tmp_path, data, compressed):
    name = "file.bin.xz" if compressed else "file.bin"
    put(tmp_path / "mirror", name, lzma.compress(CONTENT) if compressed else CONTENT)
    target = fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert target == data / "toy"
    assert (target / "file.bin").read_bytes() == CONTENT
    assert left_in(data) == ["file.bin"]


@pytest.mark.parametrize("compressed", [False, True])
def test_mirror_url(server, data, compressed):
    name = "file.bin.xz" if compressed else "file.bin"
    put(server.folder, name, lzma.compress(CONTENT) if compressed else CONTENT)
    target = fetch(dataset(remote(urls=[UNREACHABLE])), data, mirror=server.url)
    assert (target / "file.bin").read_bytes() == CONTENT
    assert all("matrix-noise-bench" in agent for agent in server.agents)


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


def test_a_corrupt_mirror_is_reported_and_passed_over(server, tmp_path, data, capsys):
    put(server.folder)
    put(tmp_path / "mirror", content=b"wrong")
    toy = dataset(remote(urls=[f"{server.url}/toy/file.bin"]))
    target = fetch(toy, data, mirror=tmp_path / "mirror")
    assert (target / "file.bin").read_bytes() == CONTENT
    assert sha256(b"wrong") in capsys.readouterr().err


def test_a_checksum_may_be_its_first_digits(tmp_path, data):
    toy = dataset(remote(sha256=sha256(CONTENT)[:8]))
    put(tmp_path / "mirror")
    fetch(toy, data, mirror=tmp_path / "mirror")
    assert left_in(data) == ["file.bin"]
    put(data, content=b"changed")
    with pytest.raises(DataError, match=f"expected sha256 {sha256(CONTENT)[:8]}\n"):
        fetch(toy, data)


def test_verified_files_are_not_fetched_again(server, data):
    put(server.folder)
    toy = dataset(remote(urls=[f"{server.url}/toy/file.bin"]))
    first = fetch(toy, data) / "file.bin"
    stamp = first.stat().st_mtime_ns
    fetch(toy, data)
    assert len(server.requests) == 1
    assert first.stat().st_mtime_ns == stamp


def test_only_missing_files_are_fetched(server, data):
    put(server.folder, "a")
    put(server.folder, "b")
    toy = dataset(*(remote(name, urls=[f"{server.url}/toy/{name}"]) for name in "ab"))
    put(data, "a")
    fetch(toy, data)
    assert server.requests == ["/toy/b"]


def test_a_failing_server_is_asked_again(server, data):
    put(server.folder)
    fetch(dataset(remote(urls=[f"{server.url}/flaky/toy/file.bin"])), data)
    assert server.requests == ["/flaky/toy/file.bin"] * 3


# What is refused


def test_wrong_checksum_names_both_hashes_and_leaves_nothing(tmp_path, data):
    put(tmp_path / "mirror", content=b"wrong")
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert f"expected sha256 {sha256(CONTENT)}" in str(caught.value)
    assert f"actual   sha256 {sha256(b'wrong')}" in str(caught.value)
    assert left_in(data) == []


def test_wrong_md5_is_refused(tmp_path, data):
    put(tmp_path / "mirror")
    with pytest.raises(DataError, match="expected md5 0123"):
        fetch(dataset(remote(md5="0123")), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []


def test_a_corrupted_local_file_is_reported_not_replaced(tmp_path, data):
    put(tmp_path / "mirror")
    path = put(data, content=b"changed")
    with pytest.raises(DataError, match=r"corrupted or another version(.|\n)*Delete it") as caught:
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert sha256(CONTENT) in str(caught.value)
    assert sha256(b"changed") in str(caught.value)
    assert "DATA_MIRROR" in str(caught.value)
    assert path.read_bytes() == b"changed"


def test_truncated_xz(tmp_path, data):
    put(tmp_path / "mirror", "file.bin.xz", lzma.compress(CONTENT)[:-20])
    with pytest.raises(DataError, match="truncated xz file"):
        fetch(dataset(remote(sha256=None)), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []


def test_damaged_xz(tmp_path, data):
    put(tmp_path / "mirror", "file.bin.xz", b"not xz at all")
    with pytest.raises(DataError, match="damaged xz file"):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []


@pytest.mark.parametrize("published", [None, sha256(CONTENT)])
def test_a_download_cut_short_leaves_nothing(server, data, published):
    with pytest.raises(DataError, match="100 of 1,000 bytes"):
        fetch(dataset(remote(urls=[f"{server.url}/short/f"], sha256=published)), data)
    assert server.requests == ["/short/f"] * 3
    assert left_in(data) == []


def test_ctrl_c_leaves_nothing(server, data, monkeypatch):
    def interrupt(self, received):
        raise KeyboardInterrupt

    monkeypatch.setattr("datasets.fetching.download._Progress.show", interrupt)
    put(server.folder)
    with pytest.raises(KeyboardInterrupt):
        fetch(dataset(remote(urls=[f"{server.url}/toy/file.bin"])), data)
    assert left_in(data) == []


def test_a_killed_fetch_leaves_nothing_that_looks_finished(tmp_path, data):
    """A process downloads from a server that never ends its answer; SIGKILL meanwhile."""
    program = f"""
import http.server, threading, time
from datasets import DATASETS, DataError, fetch
from datasets.catalogue import Dataset, RemoteFile
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
file = RemoteFile(name="file.bin", urls=(f"http://127.0.0.1:{{server.server_port}}/f",))
fetch(Dataset(name="toy", title="", source="official", licence="", citation="", rows={{}},
              files=(file,)), {str(data)!r})
"""
    environment = os.environ | {"no_proxy": "127.0.0.1"}
    process = subprocess.Popen([sys.executable, "-c", program], env=environment)
    try:
        deadline = time.monotonic() + 30
        while not any(path.stat().st_size for path in data.rglob("*.part")):
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


def test_unreachable_host_says_what_to_do(data):
    with pytest.raises(DataError) as caught:
        fetch(dataset(remote(urls=[UNREACHABLE])), data)
    message = str(caught.value)
    for part in (
        f"{UNREACHABLE}: unreachable",
        "refused",
        "data.mirror",
        "DATA_MIRROR",
        "<mirror>/toy/<file>[.xz]",
        str(data / "toy" / "file.bin"),
        sha256(CONTENT),
    ):
        assert part in message
    assert left_in(data) == []


def test_a_dead_host_is_asked_for_one_file_only(data, capsys):
    toy = dataset(remote("a", urls=[UNREACHABLE]), remote("b", urls=[UNREACHABLE]))
    zipped = dataclasses.replace(toy, archive=remote("c.zip", urls=[UNREACHABLE]))
    with pytest.raises(DataError, match="did not answer before"):
        fetch(zipped, data)
    assert capsys.readouterr().err.count("trying again") == 2


def test_other_schemes_are_refused(data, tmp_path):
    put(tmp_path / "mirror")
    with pytest.raises(DataError, match="only http"):
        fetch(dataset(remote()), data, mirror=f"file://{tmp_path}/mirror")


def test_a_file_in_place_of_the_data_folder(tmp_path):
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(DataError, match="choose another folder with --folder"):
        fetch(dataset(remote()), tmp_path / "data")


def test_a_folder_that_cannot_be_written(tmp_path, data, monkeypatch):
    """As the superuser writes anywhere, the refusal of the system is simulated."""

    def refuse(*arguments, **fields):
        raise PermissionError(13, "Permission denied", str(data))

    put(tmp_path / "mirror")
    monkeypatch.setattr("datasets.fetching.atomic_file.tempfile.mkstemp", refuse)
    with pytest.raises(DataError, match=r"Permission denied.*make this one writable"):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")


def test_a_read_only_folder(tmp_path, data):
    if os.geteuid() == 0:
        pytest.skip("the superuser can write to a read-only folder")
    put(tmp_path / "mirror")
    (data / "toy").mkdir(parents=True)
    (data / "toy").chmod(0o555)
    with pytest.raises(DataError, match="make this one writable"):
        fetch(dataset(remote()), data, mirror=tmp_path / "mirror")


def test_unknown_data_set_names_the_nearest():
    with pytest.raises(DataError, match="unknown data set 'cifra10'; did you mean cifar10"):
        fetch("cifra10", "data")
    with pytest.raises(DataError, match="known: mnist, cifar10"):
        find("zzz")


def test_simulated_data_are_not_fetched(data):
    with pytest.raises(DataError, match="city is simulated"):
        fetch("city", data)
    assert not data.exists()


def test_data_behind_a_form_tell_the_manual_step(data, tmp_path):
    with pytest.raises(DataError, match=r"form at https://www.unb.ca\S+ and take the csv"):
        fetch("darknet2020", data, mirror=tmp_path)


# Files without a published checksum


def test_an_unpublished_checksum_is_printed_and_recorded(tmp_path, data, capsys):
    put(tmp_path / "mirror")
    toy = dataset(remote(sha256=None))
    target = fetch(toy, data, mirror=tmp_path / "mirror")
    assert sha256(CONTENT) in capsys.readouterr().err
    assert (target / "SHA256SUMS").read_text() == f"{sha256(CONTENT)}  file.bin\n"
    fetch(toy, data)
    assert capsys.readouterr().err == ""


def test_a_changed_file_is_found_by_its_record(tmp_path, data):
    put(tmp_path / "mirror")
    toy = dataset(remote(sha256=None))
    path = fetch(toy, data, mirror=tmp_path / "mirror") / "file.bin"
    path.write_bytes(b"changed")
    with pytest.raises(DataError, match=f"recorded sha256 {sha256(CONTENT)}"):
        fetch(toy, data)


def test_a_changed_publisher_is_found_by_the_record(tmp_path, data):
    put(tmp_path / "mirror")
    toy = dataset(remote(sha256=None))
    (fetch(toy, data, mirror=tmp_path / "mirror") / "file.bin").unlink()
    put(tmp_path / "mirror", content=b"changed")
    with pytest.raises(DataError, match=f"actual   sha256 {sha256(b'changed')}"):
        fetch(toy, data, mirror=tmp_path / "mirror")
    assert left_in(data) == ["SHA256SUMS"]


def test_a_file_put_by_hand_is_recorded_before_it_is_loaded(data, monkeypatch):
    toy = dataset(remote(sha256=None))
    monkeypatch.setitem(DATASETS, "toy", toy)
    path = put(data)
    with pytest.raises(DataError, match="no recorded checksum; run: python -m"):
        local_files("toy", data)
    fetch("toy", data)
    assert local_files("toy", data) == {"file.bin": path}
    path.write_bytes(b"changed")
    with pytest.raises(DataError, match="not the file that was fetched first"):
        local_files("toy", data)


def test_a_truncated_archive_without_checksum_is_refused(tmp_path, data):
    noise = bytes(os.urandom(20_000))
    archive = tar_bytes({"a": noise, "b": noise})
    put(tmp_path / "mirror", "toy.tgz", archive[: len(archive) // 2])
    with pytest.raises(DataError, match="truncated or damaged archive"):
        fetch(dataset(remote("toy.tgz", sha256=None)), data, mirror=tmp_path / "mirror")
    assert left_in(data) == []
    put(tmp_path / "mirror", "toy.tgz", archive)
    fetch(dataset(remote("toy.tgz", sha256=None)), data, mirror=tmp_path / "mirror")
    assert left_in(data) == ["SHA256SUMS", "toy.tgz"]


# Other packagings


def packed(server, inner=CONTENT):
    """A data set of two files that is published as one tar.gz of a folder."""
    archive = tar_bytes({"toy/a": inner, "toy/readme": b"hello", "toy/b": b"second"})
    put(server.folder, "toy.tar.gz", archive)
    published = remote("toy.tar.gz", archive, urls=[f"{server.url}/toy/toy.tar.gz"])
    return dataset(remote("a"), remote("b", b"second"), archive=published)


def test_files_are_taken_out_of_the_published_archive(server, data):
    fetch(packed(server), data)
    assert left_in(data) == ["a", "b"]
    assert (data / "toy" / "a").read_bytes() == CONTENT


def test_an_archive_put_by_hand_is_used_and_kept(server, data):
    toy = packed(server)
    put(data, "toy.tar.gz", (server.folder / "toy" / "toy.tar.gz").read_bytes())
    fetch(toy, data)
    assert left_in(data) == ["a", "b", "toy.tar.gz"]
    assert server.requests == []


def test_an_archive_with_other_content_is_refused(server, data):
    with pytest.raises(DataError, match=f"(?s)its a is another one.*{sha256(b'wrong')}"):
        fetch(packed(server, inner=b"wrong"), data)
    assert left_in(data) == []


def test_mirrored_files_are_preferred_to_the_archive(server, tmp_path, data):
    put(tmp_path / "mirror", "a")
    put(tmp_path / "mirror", "b", b"second")
    fetch(packed(server), data, mirror=tmp_path / "mirror")
    assert server.requests == []
    assert left_in(data) == ["a", "b"]


def test_a_repack_of_the_mirror_is_taken_and_announced(tmp_path, data, capsys, monkeypatch):
    put(tmp_path / "mirror", "repack.tar.xz", lzma.compress(b"repacked"))
    toy = dataset(
        remote("official.tgz", urls=[UNREACHABLE]), repack=remote("repack.tar", b"repacked")
    )
    monkeypatch.setitem(DATASETS, "toy", toy)
    fetch(toy, data, mirror=tmp_path / "mirror")
    assert "repack.tar holds the content in another packaging" in capsys.readouterr().err
    assert local_files("toy", data) == {"repack.tar": data / "toy" / "repack.tar"}


def test_the_official_form_is_preferred_to_the_repack(tmp_path, data, monkeypatch):
    toy = dataset(remote("official.tgz"), repack=remote("repack.tar", b"repacked"))
    monkeypatch.setitem(DATASETS, "toy", toy)
    put(data, "official.tgz")
    put(data, "repack.tar", b"repacked")
    assert list(local_files("toy", data)) == ["official.tgz"]


def test_loading_what_was_not_fetched_names_the_command(data, monkeypatch):
    monkeypatch.setitem(DATASETS, "toy", dataset(remote("a"), remote("b")))
    put(data, "a")
    with pytest.raises(DataError, match=r"missing: b\); run: python -m datasets fetch"):
        local_files("toy", data)


def test_zip_of_a_publisher(server, data):
    path = server.folder / "toy.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/a", CONTENT)
    published = RemoteFile(name="toy.zip", urls=(f"{server.url}/toy.zip",))
    fetch(dataset(remote("a"), archive=published), data)
    assert left_in(data) == ["a"]
    shutil.rmtree(data)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="truncated or damaged archive"):
        fetch(dataset(remote("a"), archive=published), data)
    assert left_in(data) == []
