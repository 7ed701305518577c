"""Figures and tables of the papers, from the aggregated results alone."""


def drawing_inputs(wildcards):
    drawing = DRAWINGS[wildcards.drawing]
    files = [RUN / "experiments" / f"{name}.parquet" for name in drawing.experiments]
    files += [RUN / "experiments" / f"{name}.timings.parquet" for name in drawing.timings]
    return {"results": files, "sources": drawing.sources()}


def drawn(kind, drawing):
    endings = {"figures": ("pdf", "png", "csv"), "tables": ("csv", "md", "tex")}[kind]
    return [RUN / kind / f"{drawing}.{ending}" for ending in endings]


def all_drawn(kind):
    return [path for name, d in DRAWINGS.items() if d.kind == kind for path in drawn(kind, name)]


rule tables:
    input:
        all_drawn("tables"),


rule figures:
    input:
        all_drawn("figures"),


rule draw_figure:
    input:
        unpack(drawing_inputs),
    output:
        drawn("figures", "{drawing}"),
    threads: 1
    script:
        "../scripts/draw.py"


rule draw_table:
    input:
        unpack(drawing_inputs),
    output:
        drawn("tables", "{drawing}"),
    threads: 1
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
