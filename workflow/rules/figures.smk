"""Figures and tables of the papers, from the aggregated results alone."""


rule tables:
    input:
        all_drawn("tables"),


rule figures:
    input:
        all_drawn("figures"),


rule draw_figure:
    input:
        drawing_files,
    output:
        in_report("figures", ".png"),
    log:
        RUN / "logs" / "draw" / "{drawing}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        digest=lambda wildcards: digest_of(DRAWINGS[wildcards.drawing].sources()),
    script:
        "../scripts/draw.py"


rule draw_table:
    input:
        drawing_files,
    output:
        in_report("tables", ".csv"),
    log:
        RUN / "logs" / "draw" / "{drawing}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        digest=lambda wildcards: digest_of(DRAWINGS[wildcards.drawing].sources()),
    script:
        "../scripts/draw.py"


# One target per figure or table, and one per paper.
for name, drawing in DRAWINGS.items():

    rule:
        name:
            name
        input:
            drawn(drawing.kind, name),
        localrule: True


for paper in sorted({drawing.paper for drawing in DRAWINGS.values()}):

    rule:
        name:
            paper
        input:
            [
                path
                for name, drawing in DRAWINGS.items()
                if drawing.paper == paper
                for path in drawn(drawing.kind, name)
            ],
        localrule: True
