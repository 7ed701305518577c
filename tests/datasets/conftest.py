"""A web server on this machine, and official data from the mirror where there is one."""

import contextlib
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import datasets


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; /short/ sends less than it announces, /flaky/ fails twice first."""

    def do_GET(self):
        self.server.agents.append(self.headers["User-Agent"])
        self.server.requests.append(self.path)
        if self.path.startswith("/short/"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"x" * 100)
        elif self.path.startswith("/denied/"):
            self.send_error(403)
        elif self.path.startswith("/flaky/") and self.server.requests.count(self.path) <= 2:
            self.send_error(self.server.code)
        elif self.path.startswith("/endless/"):
            self.send_response(200)
            self.send_header("Content-Length", str(1 << 40))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                while True:
                    self.wfile.write(bytes(1 << 16))
        else:
            self.path = self.path.removeprefix("/flaky")
            super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """An HTTP server of the folder `server.folder`, at `server.url`."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    address = ("127.0.0.1", 0)
    running = http.server.ThreadingHTTPServer(
        address, lambda *arguments: _Handler(*arguments, directory=str(folder))
    )
    running.folder, running.agents, running.requests = folder, [], []
    running.code = 503
    running.url = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Retries without waiting."""
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))


@pytest.fixture
def run_python():
    """A function that runs a program in a new Python process and returns what it prints."""

    def run(program):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of official data named by DATA_MIRROR."""
    place = os.environ.get("DATA_MIRROR")
    if not place:
        pytest.skip("DATA_MIRROR is not set: the official data are not at hand")
    if not Path(place).is_dir():
        pytest.skip(f"DATA_MIRROR={place} is not a folder")
    return Path(place).resolve()


@pytest.fixture(scope="session")
def official(mirror, tmp_path_factory):
    """A function that fetches a data set from the mirror, once a session, and loads it."""
    folder = tmp_path_factory.mktemp("data")
    loaded = {}

    def load(name):
        if name not in loaded:
            datasets.fetch(name, folder, mirror=mirror)
            loaded[name] = datasets.load(name, folder)
        return loaded[name]

    return load
