"""Batches to tables: complete, without duplicates, finite."""


rule results:
    input:
        # Listed for the reason that `with_tables` gives.
        expand(RUN / "studies" / "{name}.parquet", name=CONFIG["studies"]),
        expand(RUN / "studies" / "{name}.timings.parquet", name=CONFIG["studies"]),
        [
            RUN / "studies" / f"{name}.maps.parquet"
            for name in CONFIG["studies"]
            if maps_of(STUDIES[name])
        ],
        RUN / "results.parquet",
        RUN / "results.csv",
        RUN / "timings.csv",
        RUN / "failures.csv",


rule aggregate_study:
    input:
        rows=lambda wildcards: batch_files(wildcards.study, ".parquet"),
        timings=lambda wildcards: batch_files(wildcards.study, ".timings.parquet"),
    output:
        rows=RUN / "studies" / "{study}.parquet",
        timings=RUN / "studies" / "{study}.timings.parquet",
    log:
        RUN / "logs" / "aggregate" / "{study}.log",
    priority: 1
    conda:
        ENVIRONMENT
    threads: 1
    params:
        points=lambda wildcards: [
            [
                cell.study,
                cell.dataset,
                cell.mechanism,
                cell.calibration,
                len(cell.points(CONFIG)),
            ]
            for cell in CELLS
            if cell.study == wildcards.study
        ],
        maps=lambda wildcards: list(maps_of(STUDIES[wildcards.study])),
    script:
        "../scripts/aggregate_study.py"


rule aggregate_maps:
    input:
        rows=lambda wildcards: batch_files(wildcards.study, ".parquet"),
        # Not read: where joining it removed a damaged batch, this job must not wait for that batch.
        table=RUN / "studies" / "{study}.parquet",
    output:
        RUN / "studies" / "{study}.maps.parquet",
    log:
        RUN / "logs" / "aggregate" / "{study}.maps.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        maps=lambda wildcards: list(maps_of(STUDIES[wildcards.study])),
    script:
        "../scripts/aggregate_maps.py"


rule aggregate_results:
    input:
        rows=expand(RUN / "studies" / "{study}.parquet", study=CONFIG["studies"]),
        timings=expand(RUN / "studies" / "{study}.timings.parquet", study=CONFIG["studies"]),
    output:
        parquet=RUN / "results.parquet",
        csv=RUN / "results.csv",
        timings=RUN / "timings.csv",
        failures=RUN / "failures.csv",
    log:
        RUN / "logs" / "aggregate" / "results.log",
    conda:
        ENVIRONMENT
    threads: 1
    script:
        "../scripts/aggregate_results.py"
