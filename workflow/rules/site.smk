"""Build the site of the run: pages, figures and downloads in one folder."""


rule build_site:
    input:
        rows=expand(RUN / "studies" / "{study}.parquet", study=CONFIG["studies"]),
        drawings=all_drawn("figures") + all_drawn("tables"),
        claims=RUN / "claims.csv",
        sources=sorted(path for path in Path("site_builder").rglob("*.*") if path.suffix != ".pyc"),
    output:
        directory(RUN / "site"),
    log:
        RUN / "logs" / "site.log",
    conda:
        ENVIRONMENT
    threads: 1
    script:
        "../scripts/build_site.py"


rule site:
    input:
        rules.build_site.output,
        RUN / "summary.txt",
    localrule: True
