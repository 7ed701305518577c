"""Zip files of equal bytes for equal contents, whenever they are packed with the same zlib."""

import shutil
import zipfile
from pathlib import Path


def write_zip(folder: Path, out: Path) -> None:
    """Pack the files of a folder in the order of their paths, without their times.

    Of a file's rights only one is kept: whether its owner may run it.

    Args:
        folder: Whose files are packed, named by their paths in it; empty folders are left out.
        out: The zip file, outside of that folder.
    """
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            # Its time is the first that a zip file can state.
            member = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            # Above 2 GiB the format needs to know before.
            member.file_size = path.stat().st_size
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
            with path.open("rb") as content, archive.open(member, "w") as packed:
                shutil.copyfileobj(content, packed)
