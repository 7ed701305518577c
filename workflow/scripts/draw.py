"""Draw one figure or table, or write why it cannot be drawn; the work is in paper_figures/."""

import sys
from pathlib import Path

from paper_figures.drawings import draw_or_explain

sys.stdout = sys.stderr = open(snakemake.log[0], "w", buffering=1)

reason = draw_or_explain(
    snakemake.wildcards.drawing, snakemake.input.results, Path(snakemake.output[0]).parent
)
if reason is not None:
    print(f"{snakemake.wildcards.drawing}: not drawn, {reason}")
