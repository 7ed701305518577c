"""r1smg2024: a module per study, with its figures, tables and verdicts; theorems read no study.

Only discovery imports it. It imports what the papers' packages share in `paper_figures`, `papers`,
`experiments` and `mechanisms`.
"""
