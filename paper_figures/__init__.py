"""Figures, tables and verdicts on the papers' claims, made of the stored tables of a run alone.

The workflow, site_builder, the command line and tests import it. It imports mechanisms, datasets,
papers, experiments and runs: a folder per paper has a module per study, and what all of them share
stands at the top.
"""
