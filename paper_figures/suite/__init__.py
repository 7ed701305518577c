"""The suite's own figures and tables, and the judge that all papers' privacy claims share.

Snakemake, the command line and tests import it by discovery. site_builder and some of the papers'
packages import it too. It imports the shared modules of paper_figures, studies, runs,
mechanisms and papers.
"""
