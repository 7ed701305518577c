"""The start and the end of a run: what computes it, and what became of its cells."""


rule summary:
    input:
        expand(RUN / "studies" / "{study}.parquet", study=CONFIG["studies"]),
    output:
        RUN / "summary.txt",
    log:
        RUN / "logs" / "summary.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        strict=CONFIG["strict"],
    script:
        "../scripts/summarise.py"


# Targets that need all studies list the summary; this is for all others, such as one figure.
onsuccess:
    if print_summary() and CONFIG["strict"]:
        sys.exit(1)


onerror:
    print_stop()
    print_what_is_missing()
