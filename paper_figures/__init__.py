"""Figures, tables and verdicts on the papers' claims, made only from the stored tables of a run.

The workflow, site_builder, the command line and tests import it. It imports mechanisms, datasets,
papers, experiments and runs: a folder per paper has a module per study, and what they share is at
the top level.
"""
