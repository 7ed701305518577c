"""Draw figures and tables; the work is in paper_figures/.

What cannot be drawn from a run's results says so in its files.
"""

import importlib
from pathlib import Path

from paper_figures.drawings import draw_or_explain, drawings_in, words_of
from runs.job import job

# Marks of reStructuredText, in which the report has its captions.
MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\|*`_"})

with job(snakemake.log[0]):
    studies = Path(snakemake.input[0]).parent
    run = studies.parent
    (run / "captions").mkdir(exist_ok=True)
    for module in snakemake.params.modules:
        for drawing in drawings_in(importlib.import_module(module)):
            if drawing.name in snakemake.params.names:
                reason = draw_or_explain(drawing, studies, run / drawing.kind)
                print(f"{drawing.name}: {'drawn' if reason is None else f'not drawn, {reason}'}")
                words = words_of(run / drawing.kind / f"{drawing.name}.md")
                caption = "\n\n".join(words).translate(MARKS)
                (run / "captions" / f"{drawing.name}.rst").write_text(
                    f"{caption}\n", encoding="utf-8"
                )
