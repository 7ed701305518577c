"""What each of the five reproduced papers states: queries, budgets and numbers, one file per paper.

Experiments, figures and, by `!paper NAME`, claims read them here, so that each number is stated in
one place. May be imported by experiments.contract, learning, experiments, paper_figures and
site_builder; it imports only `mechanisms`.
"""
