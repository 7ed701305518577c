"""Rules for the tables: download official files, measure cells, join them.

Files are downloaded and verified. One job runs per batch, which measures cells of a study in
sequence in one warm process. The store is joined into tables that are complete, finite and free of
duplicates.
"""


rule data:
    input:
        expand(DATA / "{dataset}" / "fetched.json", dataset=OFFICIAL),


# There are no `retries`, because the fetch itself retries a failing address, and another attempt
# does not repair a missing mirror or a wrong checksum.
rule download_data:
    output:
        DATA / "{dataset}" / "fetched.json",
    log:
        RUN / "logs" / "download" / "{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        mirror=CONFIG["data"]["mirror"],
    script:
        "../scripts/download_data.py"


rule run_batch:
    input:
        lambda wildcards: [
            DATA / name / "fetched.json" for name in BATCHES[wildcards.batch].downloads
        ],
        plan=RUN / "plan" / "{batch}.json",
    output:
        # The cells are in the store, and each knows whether it is current; see runs/store.py.
        RUN / "batches" / "{batch}.txt",
    log:
        RUN / "logs" / "batches" / "{batch}.log",
    # Everything else yields to batches.
    priority: 300
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        # This is the child's limit plus room for its parents. Resources may change without a rerun.
        mem_mb=int(CONFIG["limits"]["memory_gib"] * 1024) + 1024,
        runtime=lambda wildcards: int(
            len(BATCHES[wildcards.batch].cells) * CONFIG["limits"]["seconds"] / 60
        )
        + 5,
        gpu=lambda wildcards: int(CONFIG["studies"][BATCHES[wildcards.batch].study].takes_gpu),
    params:
        # The job refuses a plan with another digest, which would belong to another run.
        digest=lambda wildcards: BATCHES[wildcards.batch].digest,
    script:
        "../scripts/run_batch.py"


rule results:
    input:
        # These are listed for the reason that `with_tables` gives.
        [path for study in CONFIG["studies"] for path in files_of_study(study)],
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
            files_of_study(study),
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
