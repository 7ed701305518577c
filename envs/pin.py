"""Resolve requirements.in into requirements.txt, with hashes, and environment.yaml, without them.

This needs uv (``pip install uv``). The files contain no address of a package index.
"""

import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
PYTHON = "3.11"


def pins(requirements: str) -> list[str]:
    """Return the "name==version ; marker" lines of a requirements file, without hashes."""
    return re.findall(r"^([a-z0-9].*?==.*?)\s*\\?$", requirements, flags=re.MULTILINE)


def environment(requirements: str) -> str:
    """Return a conda environment with the same pins, which pip installs to get the same wheels."""
    lines = "".join(f"      - {pin}\n" for pin in pins(requirements))
    return (
        "# Written by envs/pin.py from requirements.txt; conda brings Python and pip only.\n"
        "name: matrix-noise-bench\nchannels:\n  - conda-forge\n"
        f"dependencies:\n  - python={PYTHON}\n  - pip\n  - pip:\n{lines}"
    )


if __name__ == "__main__":
    command = ["uv", "pip", "compile", "--universal", "--generate-hashes", "--no-emit-index-url"]
    command += ["--python-version", PYTHON, "--no-annotate", "--no-header", "--quiet", "--upgrade"]
    target = HERE / "requirements.txt"
    subprocess.run([*command, HERE / "requirements.in", "-o", target], check=True)
    (HERE / "environment.yaml").write_text(environment(target.read_text()))
