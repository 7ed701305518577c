"""Draw one figure or table; the work is in paper_figures/.

What cannot be drawn from a run's results says so in its files, unless the run is strict.
"""

import sys
from pathlib import Path

from paper_figures.drawings import draw, draw_or_explain

sys.stdout = sys.stderr = open(snakemake.log[0], "w", buffering=1)

name, folder = snakemake.wildcards.drawing, Path(snakemake.output[0]).parent
if snakemake.params.strict:
    draw(name, snakemake.input.results, folder)
else:
    reason = draw_or_explain(name, snakemake.input.results, folder)
    if reason is not None:
        print(f"{name}: not drawn, {reason}")
