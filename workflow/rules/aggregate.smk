"""Batches to tables: complete, without duplicates, finite."""


rule results:
    input:
        # Listed for the reason that `with_tables` gives.
        expand(RUN / "experiments" / "{name}.parquet", name=CONFIG["experiments"]),
        expand(RUN / "experiments" / "{name}.timings.parquet", name=CONFIG["experiments"]),
        [
            RUN / "experiments" / f"{name}.maps.parquet"
            for name in CONFIG["experiments"]
            if maps_of(STUDIES[name])
        ],
        RUN / "results.parquet",
        RUN / "results.csv",
        RUN / "timings.csv",
        RUN / "failures.csv",


rule aggregate_experiment:
    input:
        rows=lambda wildcards: batch_files(wildcards.experiment, ".parquet"),
        timings=lambda wildcards: batch_files(wildcards.experiment, ".timings.parquet"),
    output:
        rows=RUN / "experiments" / "{experiment}.parquet",
        timings=RUN / "experiments" / "{experiment}.timings.parquet",
    log:
        RUN / "logs" / "aggregate" / "{experiment}.log",
    priority: 1
    conda:
        ENVIRONMENT
    threads: 1
    params:
        points=lambda wildcards: [
            [
                cell.experiment,
                cell.dataset,
                cell.mechanism,
                cell.calibration,
                len(cell.points(CONFIG)),
            ]
            for cell in CELLS
            if cell.experiment == wildcards.experiment
        ],
        maps=lambda wildcards: list(maps_of(STUDIES[wildcards.experiment])),
    script:
        "../scripts/aggregate_experiment.py"


rule aggregate_maps:
    input:
        rows=lambda wildcards: batch_files(wildcards.experiment, ".parquet"),
        # Not read: where joining it removed a damaged batch, this job must not wait for that batch.
        table=RUN / "experiments" / "{experiment}.parquet",
    output:
        RUN / "experiments" / "{experiment}.maps.parquet",
    log:
        RUN / "logs" / "aggregate" / "{experiment}.maps.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        maps=lambda wildcards: list(maps_of(STUDIES[wildcards.experiment])),
    script:
        "../scripts/aggregate_maps.py"


rule aggregate_results:
    input:
        rows=expand(RUN / "experiments" / "{experiment}.parquet", experiment=CONFIG["experiments"]),
        timings=expand(
            RUN / "experiments" / "{experiment}.timings.parquet", experiment=CONFIG["experiments"]
        ),
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
