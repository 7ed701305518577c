"""Members of archives are read by their names, within a limit, or not at all."""

import io
import tarfile
import zipfile

import pytest

from datasets import DataError
from datasets.fetching.archives import members, read_members

WANTED = b"wanted"


def write(path, *names):
    """Write an archive with folder/wanted and then files of 4 bytes with these names."""
    contents = [("folder/wanted", WANTED), *((name, b"evil") for name in names)]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.mkdir("folder")
            for name, content in contents:
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as tar:
        link = tarfile.TarInfo("elsewhere/wanted")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        for name, content in contents:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture(params=["a.tar.gz", "a.zip"])
def path(request, tmp_path):
    return tmp_path / request.param


def test_regular_files_are_read_by_their_last_names(path, tmp_path):
    """An archive may name any path: nothing is written there, and no link is followed."""
    names = ("/tmp/evil", "../../other")
    sizes = [(name, size) for name, size, _ in members(write(path, *names))]
    assert sizes == [("folder/wanted", 6), *((name, 4) for name in names)]
    assert read_members(path, {"wanted": 6, "evil": 4}) == {"wanted": WANTED, "evil": b"evil"}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("most", "words"),
    [
        ({"wanted": 5}, "its wanted has 6 bytes, expected at most 5"),
        ({"other": 9}, "it has two files other"),
        ({"wanted": 6, "none": 6}, "it has no none"),
    ],
)
def test_what_is_not_expected_is_refused(path, most, words):
    with pytest.raises(DataError, match=rf"{path.name}: {words}, it begins with '.*; delete it"):
        read_members(write(path, "other", "folder/other"), most)


def test_a_damaged_archive_and_a_web_page_are_refused(path):
    write(path, "other")
    for content in (path.read_bytes()[:-40], path.read_bytes()[:-4], b"<html>sign in</html>"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"truncated or damaged archive .*it begins with"):
            read_members(path, {"wanted": 6})


def test_a_changed_byte_is_found(path):
    """Neither archive compresses its member, and both have a sum of it."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", WANTED)
    else:
        with tarfile.open(path, "w:gz", compresslevel=0) as tar:
            info = tarfile.TarInfo("a")
            info.size = len(WANTED)
            tar.addfile(info, io.BytesIO(WANTED))
    path.write_bytes(path.read_bytes().replace(WANTED, b"wonted"))
    with pytest.raises(DataError, match="truncated or damaged archive"):
        read_members(path, {"a": 6})


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_may_use_other_methods(tmp_path, method):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("folder/wanted", WANTED)
    assert read_members(path, {"wanted": 6}) == {"wanted": WANTED}


@pytest.mark.parametrize(
    ("places", "value", "words"),
    [
        # Bit 0 of the flags marks encryption; the other fields are the method of compression.
        ((6, 8), 1, r"\(method deflate\) cannot be read: .*encrypted"),
        ((8, 10), 9, r"\(method deflate64\) cannot be read"),
        ((8, 10), 77, r"\(method 77\) cannot be read: .*; unpack it and pack it again"),
    ],
)
def test_a_zip_that_cannot_be_read_names_the_remedy(tmp_path, places, value, words):
    path = write(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    for start, place in zip((b"PK\3\4", b"PK\1\2"), places, strict=True):
        content[content.rindex(start) + place] = value
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"its member 'folder/wanted' {words}"):
        read_members(path, {"wanted": 6})
