"""Draw figures and tables; the work is in paper_figures/.

If the results of the run do not suffice for a drawing, its files say so.
"""

import importlib
from pathlib import Path

from claims.discovery import declared
from claims.mechanism_titles import name_own
from paper_figures.drawings import draw_or_explain
from runs.job import job

with job(snakemake.log[0]):
    studies = Path(snakemake.input[0]).parent
    run = studies.parent
    name_own(snakemake.config.get("also") or ())
    for module in snakemake.params.modules:
        for drawing in declared([importlib.import_module(module)], "drawing").values():
            if drawing.name in snakemake.params.names:
                reason = draw_or_explain(drawing, studies, run / drawing.kind)
                print(f"{drawing.name}: {'drawn' if reason is None else f'not drawn, {reason}'}")
