"""Draw one figure or table; the work is in paper_figures/."""

from pathlib import Path

from paper_figures.registry import draw

draw(snakemake.wildcards.drawing, snakemake.input.results, Path(snakemake.output[0]).parent)
