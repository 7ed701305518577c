"""Judge the claims of the papers by the results of the run."""


rule claims:
    input:
        # These are listed for the reason that `with_tables` gives.
        [path for study in CONFIG["studies"] for path in tables_of(study)],
        RUN / "claims.csv",
        RUN / "claims.md",
        RUN / "summary.txt",


rule judge_claims:
    input:
        rows=expand(RUN / "studies" / "{study}.parquet", study=CONFIG["studies"]),
        timings=expand(RUN / "studies" / "{study}.timings.parquet", study=CONFIG["studies"]),
        claims=sorted(Path("paper_figures").glob("*/claims.yaml")),
    output:
        csv=report(
            RUN / "claims.csv",
            caption="../report/claims.rst",
            category="claims",
            labels={"name": "claims", "kind": "table", "reads": "all studies"},
        ),
        markdown=RUN / "claims.md",
    log:
        RUN / "logs" / "claims.log",
    # It comes before the drawings because it is the longest job that is not a batch.
    priority: 100
    conda:
        ENVIRONMENT
    threads: 1
    params:
        # The code is a parameter because profiles and closed forms in it decide some claims.
        digest=digest_of(judging_sources()),
    script:
        "../scripts/judge_claims.py"
