"""Summarise what became of the cells of a run, and print it at the end."""


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


# Targets that need all studies list the summary as an input; this serves all others, such as one
# figure.
onsuccess:
    if print_summary() and CONFIG["strict"]:
        sys.exit(1)


onerror:
    print_stop()
    print_what_is_missing()
