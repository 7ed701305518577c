"""Draw one figure or table; the work is in paper_figures/."""

import sys
from pathlib import Path

from paper_figures.drawings import draw

sys.stdout = sys.stderr = open(snakemake.log[0], "w", buffering=1)

draw(snakemake.wildcards.drawing, snakemake.input.results, Path(snakemake.output[0]).parent)
