"""Draw one figure or table; the work is in paper_figures/.

What cannot be drawn from a run's results says so in its files.
"""

from pathlib import Path

from paper_figures.drawings import draw_or_explain
from runs.job import job

with job(snakemake.log[0]):
    name = snakemake.wildcards.drawing
    reason = draw_or_explain(name, list(snakemake.input), Path(snakemake.output[0]).parent)
    if reason is not None:
        print(f"{name}: not drawn, {reason}")
