"""A local web server, and official data from the mirror if there is one."""

import functools
import http.server
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

import datasets


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder. /short/ is cut short, /flaky/ fails twice, /stalls/ waits."""

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
        elif self.path.startswith("/stalls/"):
            self.send_response(200)
            self.send_header("Content-Length", "900000")
            self.end_headers()
            self.wfile.write(b"x" * int(self.path.removeprefix("/stalls/")))
            time.sleep(0.5)
        else:
            self.path = self.path.removeprefix("/flaky")
            super().do_GET()

    def end_headers(self):
        if self.server.encoding:
            self.send_header("Content-Encoding", self.server.encoding)
        super().end_headers()

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
    running.code, running.encoding = 503, ""
    running.url = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def data(tmp_path):
    """The data folder, which does not exist yet."""
    return tmp_path / "data"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Retry without waiting."""
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))


@pytest.fixture
def run_python():
    """Returns a function that runs a program in a new Python process and returns its output."""

    def run(program):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def official(official_data):
    """Returns a function that loads an official data set once per session."""
    return functools.cache(lambda name: datasets.load(name, official_data(name)))
