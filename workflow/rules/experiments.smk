"""One job per cell: an experiment on a data set with a mechanism at a calibration."""


rule run_cell:
    input:
        unpack(cell_inputs),
    output:
        rows=RUN / "cells" / "{cell}.parquet",
        timings=RUN / "cells" / "{cell}.timings.parquet",
    log:
        RUN / "logs" / "cells" / "{cell}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        # The child's limit and room for its parent. Resources may change without a rerun.
        mem_mb=int(CONFIG["limits"]["memory_gib"] * 1024) + 512,
        runtime=int(CONFIG["limits"]["seconds"] / 60) + 5,
        gpu=lambda wildcards: int(CELLS[wildcards.cell].takes_gpu(CONFIG)),
    params:
        specification=lambda wildcards: CELLS[wildcards.cell].specification(CONFIG),
    script:
        "../scripts/run_cell.py"
