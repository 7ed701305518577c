"""Reproducible zip files: equal contents give equal bytes under the same version of zlib."""

import shutil
import zipfile
from pathlib import Path


def write_zip(folder: Path, out: Path) -> None:
    """Pack the files of a folder, sorted by path, without their times.

    The only permission that is kept is whether the owner may run the file.

    Args:
        folder: The folder to pack. Its files are named by their relative paths; empty folders are
            left out.
        out: The zip file, outside that folder.
    """
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            # The default time is the earliest that a zip file can hold.
            member = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            # The format needs to know in advance whether a file exceeds 2 GiB.
            member.file_size = path.stat().st_size
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
            with path.open("rb") as content, archive.open(member, "w") as packed:
                shutil.copyfileobj(content, packed)
