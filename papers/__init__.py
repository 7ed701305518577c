"""What each paper states: its queries, budgets and numbers, one file per paper.

Experiments, figures and, by `!paper NAME`, claims read them here, so that a number stands in one
place. The room may be imported by `experiments`, `learning` and `paper_figures`. It imports
`mechanisms` alone.
"""
