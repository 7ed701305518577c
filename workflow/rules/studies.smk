"""Run one job per batch, which measures cells of a study in sequence in one warm process."""


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
