"""Archives are unpacked safely or not at all."""

import gzip
import io
import stat
import tarfile
import tracemalloc
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
    """Write a tar with the wanted file and then the given entries."""
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
    """Assert that nothing in the archive is unpacked, for this reason."""
    inside = archive.parent / "inside"
    inside.mkdir()
    with pytest.raises(DataError, match=f"(?s){what}.*was not unpacked"):
        extract(archive, inside, {"evil": 4})
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
        (tar_entry("\\\\host\\evil"), "absolute path"),
        (tar_entry("/folder", tarfile.DIRTYPE), "absolute path"),
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
        ("\\\\host\\evil", stat.S_IFREG, "absolute path"),
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
    sizes = [(name, size) for name, size, _ in members(archive)]
    assert sizes == [("folder/wanted", 6), ("other", 4)]
    assert read_members(archive, {"wanted": 6}) == {"wanted": WANTED}
    inside = tmp_path / "inside"
    inside.mkdir()
    extract(archive, inside, {"wanted": 6})
    assert [path.name for path in inside.iterdir()] == ["wanted"]
    assert (inside / "wanted").read_bytes() == WANTED


def test_a_missing_member_is_an_error(archive, tmp_path):
    with pytest.raises(DataError, match="it has no absent;"):
        extract(archive, tmp_path, {"wanted": 6, "absent": 6})
    many = dict.fromkeys(["wanted", *"abcdef"], 6)
    with pytest.raises(DataError, match="it has no a, b, c and 3 more;"):
        read_members(archive, many)


@pytest.mark.parametrize("name", ["a.tgz", "a.zip"])
def test_two_members_of_one_name_are_refused(tmp_path, name):
    path = tmp_path / name
    write = (
        write_zip if path.suffix == ".zip" else lambda path, name: write_tar(path, tar_entry(name))
    )
    with pytest.raises(DataError, match="it has two files wanted"):
        read_members(write(path, "elsewhere/wanted"), {"wanted": 6})
    for twice in ("./folder/wanted", "folder//wanted"):
        with pytest.raises(DataError, match="wanted' is there twice, so the archive was not"):
            check_intact(write(path, twice))


def test_limits_of_size_and_number(archive, monkeypatch):
    with pytest.raises(DataError, match="its wanted has 6 bytes, expected at most 5"):
        read_members(archive, {"wanted": 5})
    for limit, value in (("MAX_UNPACKED_BYTES", 9), ("MAX_MEMBERS", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(f"datasets.fetching.archives.{limit}", value)
            with pytest.raises(DataError, match=f"unpacks to more than .*\\b{value} "):
                read_members(archive, {"wanted": 6})
            patch.setattr(f"datasets.fetching.archives.{limit}", value + 1)
            read_members(archive, {"wanted": 6})


@pytest.mark.parametrize("kind", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_long_header_of_a_tar_is_refused_before_it_is_read(tmp_path, kind):
    """A gzip of 65 kB declares 64 MB of zeros as the name of a file."""
    path = tmp_path / "a.tgz"
    with tarfile.open(path, "w:gz", format=kind) as tar:
        info = tarfile.TarInfo("a" * (64 << 20))
        tar.addfile(info)
    tracemalloc.start()
    with pytest.raises(
        DataError, match=r"damaged archive .*it has a header of 67,1\d\d,\d{3} bytes"
    ):
        check_intact(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_many_long_headers_of_a_tar_end_in_an_error(tmp_path):
    """A header may follow a header without a file between them, so that tarfile recurses."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 512
    path = tmp_path / "a.tgz"
    path.write_bytes(gzip.compress((info.tobuf(tarfile.GNU_FORMAT) + b"a" * 512) * 3000))
    with pytest.raises(DataError, match=r"damaged archive .*RecursionError"):
        check_intact(path)


@pytest.mark.parametrize(
    ("places", "value", "words"),
    [
        # Bit 0 of the flags marks encryption; the other fields are the method of compression.
        ((6, 8), 1, "encrypted"),
        ((8, 10), 9, "compressed by Deflate64, and only Deflate is read: unpack it and pack it"),
        ((8, 10), 12, "compressed by bzip2, and"),
        ((8, 10), 14, "compressed by LZMA, and"),
        ((8, 10), 77, "compressed by method 77, and"),
        ((8, 10), 99, "encrypted; delete it and get"),
    ],
)
def test_a_zip_that_cannot_be_read_names_the_remedy(tmp_path, places, value, words):
    path = write_zip(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    for start, place in zip((b"PK\3\4", b"PK\1\2"), places, strict=True):
        content[content.index(start) + place] = value
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"its member 'folder/wanted' is {words}"):
        check_intact(path)


def test_a_truncated_archive_and_a_web_page_are_refused(archive):
    for content in (archive.read_bytes()[:-40], b"<html>please sign in</html>"):
        archive.write_bytes(content)
        with pytest.raises(DataError, match="truncated or damaged"):
            check_intact(archive)


def test_changed_byte_in_a_zip(tmp_path):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as container:
        container.writestr("file", WANTED)
    archive.write_bytes(archive.read_bytes().replace(WANTED, b"wonted"))
    with pytest.raises(DataError, match="truncated or damaged"):
        read_members(archive, {"file": 6})
