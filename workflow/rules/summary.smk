"""The end of a run: its cells, counted by what became of them."""


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


onsuccess:
    print_summary()


onerror:
    print_summary()
    print_what_is_missing()
