"""Join the store into tables that are complete, finite and free of duplicates."""


rule results:
    input:
        # These are listed for the reason that `with_tables` gives.
        [path for study in CONFIG["studies"] for path in tables_of(study)],
        RUN / "results.csv",
        RUN / "timings.csv",
        RUN / "failures.csv",
        RUN / "summary.txt",


for study in CONFIG["studies"]:

    rule:
        name:
            f"join_{study}"
        input:
            [
                RUN / "batches" / f"{stem}.txt"
                for stem, batch in BATCHES.items()
                if batch.study == study
            ],
        output:
            tables_of(study),
        log:
            RUN / "logs" / "aggregate" / f"{study}.log",
        # Verdicts and drawings wait for the tables.
        priority: 200
        localrule: True
        conda:
            ENVIRONMENT
        threads: 1
        params:
            maps=list(STUDIES[study].maps),
        script:
            "../scripts/join_study.py"


rule write_csv:
    input:
        rows=expand(RUN / "studies" / "{study}.parquet", study=CONFIG["studies"]),
        timings=expand(RUN / "studies" / "{study}.timings.parquet", study=CONFIG["studies"]),
    output:
        csv=RUN / "results.csv",
        timings=RUN / "timings.csv",
        failures=RUN / "failures.csv",
    log:
        RUN / "logs" / "aggregate" / "results.log",
    conda:
        ENVIRONMENT
    threads: 1
    script:
        "../scripts/write_csv.py"
