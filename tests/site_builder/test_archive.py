"""The bytes of an archive depend on its contents, not on the day or the machine."""

import os
import zipfile

from site_builder.archive import write_zip


def a_folder(folder, names, moment, rights):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"of {name}")
        path.chmod(rights | 0o100 * name.endswith(".sh"))
        os.utime(path, (moment, moment))
    return folder


def test_files_of_another_time_order_and_owner_give_the_same_bytes(tmp_path):
    names = ["b/z.txt", "b/a.sh", "a.txt", "b.txt"]
    one = a_folder(tmp_path / "one", names, 1e9, 0o644)
    two = a_folder(tmp_path / "two", names[::-1], 1.7e9, 0o600)
    (two / "empty").mkdir()
    write_zip(one, tmp_path / "one.zip")
    write_zip(two, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.txt", "b/a.sh", "b/z.txt", "b.txt"]
        assert archive.read("b/z.txt") == b"of b/z.txt"
        assert {
            each.filename for each in archive.infolist() if each.external_attr >> 16 & 0o100
        } == {"b/a.sh"}


def test_other_contents_give_other_bytes(tmp_path):
    folder = a_folder(tmp_path / "one", ["a.txt"], 1e9, 0o644)
    write_zip(folder, tmp_path / "one.zip")
    (folder / "a.txt").write_text("other")
    write_zip(folder, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() != (tmp_path / "two.zip").read_bytes()
