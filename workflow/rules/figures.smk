"""Draw figures and tables of the papers from the joined results alone."""


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
