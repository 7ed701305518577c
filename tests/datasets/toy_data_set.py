"""A data set of a few bytes, and the places that it is fetched from."""

import hashlib
import io
import tarfile

from datasets.entry import Dataset, RemoteFile

CONTENT = b"the right content\n" * 50
UNREACHABLE = "http://127.0.0.1:9/file.bin"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def remote(name="file.bin", content=CONTENT, urls=(), **fields):
    """A remote file with this content."""
    known = {"sha256": sha256(content), "bytes": len(content)} | fields
    return RemoteFile(name=name, urls=tuple(urls), **known)


def dataset(*files, **fields):
    """The data set `toy` of these files."""
    known = {"title": "Toy", "source": "official", "licence": "none", "citation": "none"}
    return Dataset(name="toy", record="none", rows={}, files=files, **known, **fields)


def put(root, name="file.bin", content=CONTENT, folder="toy"):
    """Write a file of the data set into a mirror, a server's folder or the data folder."""
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
    """The names of all files below a folder."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())
