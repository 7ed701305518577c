"""Rules for what the tables alone suffice for: drawings, the ledger, the summary, and the site.

The last rule answers a target that no other rule makes, with one line.
"""


rule tables:
    input:
        with_tables(each for each in DRAWINGS.values() if each.kind == "tables"),
        RUN / "summary.txt",


rule figures:
    input:
        with_tables(each for each in DRAWINGS.values() if each.kind == "figures"),
        RUN / "summary.txt",


# One job draws all figures and tables that read the same studies.
for group_name, group in DRAWING_JOBS.items():

    rule:
        name:
            f"draw_{group_name}"
        input:
            sorted({RUN / "studies" / file for each in group for file in each.files}),
        output:
            [path for each in group for path in in_report(each)],
        log:
            RUN / "logs" / "draw" / f"{group_name}.log",
        # Among the drawings, those of many studies come first: they take long, and would otherwise
        # be made alone at the end. No drawing reads 100 studies, so verdicts precede them all.
        priority: len(group[0].studies)
        localrule: True
        conda:
            ENVIRONMENT
        threads: 1
        params:
            modules=sorted({each.module for each in group}),
            names=[each.name for each in group],
            digest=digest_of(file for each in group for file in each.sources()),
        script:
            "../scripts/draw.py"


# Every figure, table and paper has a target of its name.
for drawing in DRAWINGS.values():

    rule:
        name:
            drawing.name
        input:
            with_tables([drawing]),
        localrule: True


for paper in sorted({drawing.paper for drawing in DRAWINGS.values()}):

    rule:
        name:
            paper
        input:
            with_tables(each for each in DRAWINGS.values() if each.paper == paper),
        localrule: True


rule claims:
    input:
        # These are listed for the reason that `with_tables` gives.
        [path for study in CONFIG["studies"] for path in files_of_study(study)],
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


# With its limit on jobs per second, Snakemake looks for jobs to start once a second, and once more a
# second for every job that has ended: after a hundred jobs, this takes a third of a core. Only a
# cluster needs the limit, so a local run ignores --max-jobs-per-timespan.
onstart:
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


# Targets that need all studies have the summary among their inputs. The other targets, such as one
# figure, print it here.
onsuccess:
    if print_summary() and CONFIG["strict"]:
        sys.exit(1)


onerror:
    print_stop()
    print_what_is_missing()


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


rule unknown_target:
    input:
        lambda wildcards: sys.exit(f"error: {no_target(wildcards.target)}"),
    output:
        "{target}",
