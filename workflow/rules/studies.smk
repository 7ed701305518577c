"""One job per batch: cells of a study, one after the other in one warm process."""


rule run_batch:
    input:
        lambda wildcards: [
            DATA / name / "fetched.json" for name in BATCHES[wildcards.batch].downloads(CONFIG)
        ],
        plan=RUN / "plan" / "{batch}.json",
    output:
        # Its cells are in the store, and each knows whether it is current; see runs/store.py.
        RUN / "batches" / "{batch}.json",
    log:
        RUN / "logs" / "batches" / "{batch}.log",
    # Batches go first, then what judging waits for. Figures fill the idle cores at the end.
    priority: 2
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        # The child's limit and room for its parents. Resources may change without a rerun.
        mem_mb=int(CONFIG["limits"]["memory_gib"] * 1024) + 1024,
        runtime=lambda wildcards: int(
            len(BATCHES[wildcards.batch].cells) * CONFIG["limits"]["seconds"] / 60
        )
        + 5,
        gpu=lambda wildcards: int(BATCHES[wildcards.batch].cells[0].takes_gpu(CONFIG)),
    params:
        # What it stands for is in the plan, which must be that of this run.
        digest=lambda wildcards: BATCHES[wildcards.batch].digest(CONFIG),
    script:
        "../scripts/run_batch.py"
