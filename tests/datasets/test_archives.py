"""Archives are unpacked safely or not at all."""

import io
import stat
import tarfile
import zipfile

import pytest

from datasets import DataError
from datasets.fetching.archives import (
    check_intact,
    extract,
    members,
    read_members,
)

WANTED = b"wanted"


def write_tar(path, *infos):
    """A tar of the given entries, after the file that is wanted."""
    with tarfile.open(path, "w:gz") as tar:
        wanted = tarfile.TarInfo("folder/wanted")
        wanted.size = len(WANTED)
        tar.addfile(wanted, io.BytesIO(WANTED))
        for info in infos:
            info.size = 4 if info.isreg() else 0
            tar.addfile(info, io.BytesIO(b"evil") if info.isreg() else None)
    return path


def tar_entry(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def write_zip(path, name="other", mode=stat.S_IFREG | 0o644):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/wanted", WANTED)
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, b"evil")
    return path


def refused(archive, what):
    """Assert that nothing of it is unpacked, for this reason."""
    inside = archive.parent / "inside"
    inside.mkdir()
    with pytest.raises(DataError, match=f"(?s){what}.*was not unpacked"):
        extract(archive, inside, {"evil"})
    assert list(inside.iterdir()) == []
    assert not (archive.parent / "evil").exists()


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (tar_entry("../evil"), "leaves the folder"),
        (tar_entry("a/../../evil"), "leaves the folder"),
        (tar_entry("a\\..\\..\\evil"), "leaves the folder"),
        (tar_entry("/tmp/evil"), "absolute path"),
        (tar_entry("C:\\evil"), "absolute path"),
        (tar_entry("\\evil"), "absolute path"),
        (tar_entry("evil", tarfile.SYMTYPE, "/etc/passwd"), "link"),
        (tar_entry("evil", tarfile.SYMTYPE, "folder/wanted"), "link"),
        (tar_entry("evil", tarfile.LNKTYPE, "folder/wanted"), "link"),
        (tar_entry("evil", tarfile.CHRTYPE), "special file"),
        (tar_entry("evil", tarfile.FIFOTYPE), "special file"),
    ],
)
def test_unsafe_tar_is_refused(tmp_path, entry, what):
    refused(write_tar(tmp_path / "a.tar.gz", entry), what)


@pytest.mark.parametrize(
    ("name", "mode", "what"),
    [
        ("../evil", stat.S_IFREG, "leaves the folder"),
        ("a\\..\\..\\evil", stat.S_IFREG, "leaves the folder"),
        ("/tmp/evil", stat.S_IFREG, "absolute path"),
        ("C:/evil", stat.S_IFREG, "absolute path"),
        ("\\evil", stat.S_IFREG, "absolute path"),
        ("evil", stat.S_IFLNK, "link"),
    ],
)
def test_unsafe_zip_is_refused(tmp_path, name, mode, what):
    refused(write_zip(tmp_path / "a.zip", name, mode), what)


@pytest.fixture(params=["a.tar.gz", "a.zip"])
def archive(request, tmp_path):
    """A harmless archive of folder/wanted and other."""
    path = tmp_path / request.param
    return write_zip(path) if path.suffix == ".zip" else write_tar(path, tar_entry("other"))


def test_harmless_archive(archive, tmp_path):
    assert [name for name, _ in members(archive)] == ["folder/wanted", "other"]
    assert read_members(archive, {"wanted"}) == {"wanted": WANTED}
    inside = tmp_path / "inside"
    inside.mkdir()
    extract(archive, inside, {"wanted"})
    assert [path.name for path in inside.iterdir()] == ["wanted"]
    assert (inside / "wanted").read_bytes() == WANTED


def test_missing_member(archive, tmp_path):
    with pytest.raises(DataError, match="it has no absent"):
        extract(archive, tmp_path, {"wanted", "absent"})


def test_repeated_member(tmp_path):
    archive = write_tar(tmp_path / "a.tar", tar_entry("elsewhere/wanted"))
    with pytest.raises(DataError, match="it has two files wanted"):
        read_members(archive, {"wanted"})


def test_size_limit(archive, monkeypatch):
    monkeypatch.setattr("datasets.fetching.archives.MAX_UNPACKED_BYTES", 9)
    with pytest.raises(DataError, match="unpacks to more than 9 bytes"):
        read_members(archive, {"wanted"})
    monkeypatch.setattr("datasets.fetching.archives.MAX_UNPACKED_BYTES", 10)
    read_members(archive, {"wanted"})


def test_truncated(archive):
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(DataError, match="truncated or damaged"):
        check_intact(archive)


def test_changed_byte_in_a_zip(tmp_path):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as container:
        container.writestr("file", WANTED)
    archive.write_bytes(archive.read_bytes().replace(WANTED, b"wonted"))
    with pytest.raises(DataError, match="truncated or damaged"):
        read_members(archive, {"file"})


def test_not_an_archive(tmp_path):
    for name in ("a.zip", "a.tgz"):
        (tmp_path / name).write_bytes(b"<html>please sign in</html>")
        with pytest.raises(DataError, match="truncated or damaged"):
            check_intact(tmp_path / name)
