"""Figures, tables and verdicts on the papers' claims, made of the stored tables of a run alone.

The workflow, the command line and tests import it; mechanisms, papers, datasets, learning,
experiments and runs do not. It imports all of those: a folder per paper has a module per study, and
what all of them share stands at the top.
"""
