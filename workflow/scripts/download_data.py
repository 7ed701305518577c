"""Fetch one data set, with `datasets.fetch`; the output lists its files with their sizes."""

import contextlib
import json
import sys
from pathlib import Path

from datasets import DataError, fetch
from mechanisms.query.words import in_one_line

marker = Path(snakemake.output[0])
try:
    folder = fetch(
        snakemake.wildcards.dataset, marker.parent.parent, mirror=snakemake.params.mirror
    )
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != marker)
    marker.write_text(json.dumps({str(p.relative_to(folder)): p.stat().st_size for p in files}))
    Path(snakemake.log[0]).write_text(f"{folder}: {len(files)} files, all verified\n")
except (DataError, OSError) as error:
    with contextlib.suppress(OSError):
        Path(snakemake.log[0]).write_text(f"{error}\n", encoding="utf-8")
    sys.exit(in_one_line(error))
