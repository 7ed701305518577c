"""One job per cell: an experiment on a data set with a mechanism at a footing."""


def cell_of(wildcards):
    return CELLS[wildcards.cell]


def cell_inputs(wildcards):
    cell = cell_of(wildcards)
    files = {"sources": cell.sources(CONFIG)}
    if cell.dataset in OFFICIAL:
        files["data"] = DATA / cell.dataset / "fetched.json"
    return files


rule run_cell:
    input:
        unpack(cell_inputs),
    output:
        rows=RUN / "cells" / "{cell}.parquet",
        timings=RUN / "cells" / "{cell}.timings.parquet",
    threads: 1
    resources:
        mem_mb=int(CONFIG["limits"]["memory_gib"] * 1024),
        runtime=int(CONFIG["limits"]["seconds"] / 60) + 5,
    params:
        specification=lambda wildcards: cell_of(wildcards).specification(CONFIG),
    script:
        "../scripts/run_cell.py"
