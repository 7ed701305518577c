"""Judge the claims of the papers; the work is in paper_figures/ledger.py."""

import sys
from pathlib import Path

from paper_figures.ledger import write_ledger

sys.stdout = sys.stderr = open(snakemake.log[0], "w", buffering=1)

write_ledger(Path(snakemake.output.csv).parent)
