"""What each of the five reproduced papers states: queries, budgets and numbers, one file per paper.

Experiments, figures and, by `!paper NAME`, claims read them here, so that each number is stated in
one place. `experiments`, `learning` and `paper_figures` may import this package; it imports only
`mechanisms`.
"""
