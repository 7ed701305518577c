"""The same content in several packagings: the publisher's archives, and a mirror's repacks."""

import dataclasses
import lzma
import shutil
import zipfile

import pytest
from toy_data_set import (
    CONTENT,
    UNREACHABLE,
    dataset,
    left_in,
    put,
    remote,
    sha256,
    tar_bytes,
)

from datasets import DataError, fetch
from datasets.entry import RemoteFile
from datasets.fetching.checksums import local_files


def packed(server, inner=CONTENT):
    """A data set of two files, published as one tar.gz of a folder."""
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
    with pytest.raises(
        DataError, match=f"toy.tar.gz: its a has the wrong content, .*{sha256(b'wrong')}"
    ):
        fetch(packed(server, inner=b"wrong"), data)
    assert left_in(data) == []


@pytest.mark.parametrize("published", [True, False])
def test_a_wrong_archive_put_by_hand_is_refused_and_kept(server, data, published):
    toy = packed(server)
    if not published:
        toy = dataclasses.replace(toy, archive=RemoteFile(name="toy.tar.gz"))
    put(data, "toy.tar.gz", b"wrong")
    with pytest.raises(DataError, match=r"toy\.tar\.gz.*(Delete it, then fetch|delete it and get)"):
        fetch(toy, data)
    assert left_in(data) == ["toy.tar.gz"]
    assert server.requests == []


def test_mirrored_files_are_preferred_to_the_archive(server, tmp_path, data):
    put(tmp_path / "mirror", "a")
    put(tmp_path / "mirror", "b", b"second")
    fetch(packed(server), data, mirror=tmp_path / "mirror")
    assert server.requests == []
    assert left_in(data) == ["a", "b"]


def test_the_manual_step_names_the_archive_of_files_without_addresses(data):
    toy = dataset(
        remote("a"), remote("b"), archive=remote("toy.tar.gz", b"archive", urls=[UNREACHABLE])
    )
    with pytest.raises(DataError, match=rf"download {UNREACHABLE} and save it as toy\.tar\.gz in"):
        fetch(toy, data)


def test_a_repack_of_the_mirror_is_taken_and_announced(tmp_path, data, capsys):
    put(tmp_path / "mirror", "repack.tar.xz", lzma.compress(b"repacked"))
    toy = dataset(
        remote("official.tgz", urls=[UNREACHABLE]), repack=remote("repack.tar", b"repacked")
    )
    fetch(toy, data, mirror=tmp_path / "mirror")
    assert "repack.tar is another packaging of the official content" in capsys.readouterr().err
    assert local_files(toy, data) == {"repack.tar": data / "toy" / "repack.tar"}


def test_the_official_form_is_preferred_to_the_repack(data):
    toy = dataset(remote("official.tgz"), repack=remote("repack.tar", b"repacked"))
    put(data, "official.tgz")
    put(data, "repack.tar", b"repacked")
    assert list(local_files(toy, data)) == ["official.tgz"]


def test_loading_what_was_not_fetched_names_the_command(data):
    put(data, "a")
    with pytest.raises(DataError, match=r"missing: b\); run: python -m datasets fetch"):
        local_files(dataset(remote("a"), remote("b")), data)


def test_a_zip_of_the_publisher_is_unpacked(tmp_path, data):
    path = put(tmp_path / "mirror", "toy.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/a", CONTENT)
    toy = dataset(remote("a"), archive=RemoteFile(name="toy.zip"))
    fetch(toy, data, mirror=tmp_path / "mirror")
    assert left_in(data) == ["a"]
    shutil.rmtree(data)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="truncated or damaged archive"):
        fetch(toy, data, mirror=tmp_path / "mirror")
    assert left_in(data) == []
