"""The suite's own figures and tables, and the judge that all papers' privacy claims share.

Snakemake, the command line and tests import it by discovery, and other packages of paper_figures
may import the judge's selection. It imports the shared modules of paper_figures, experiments, runs,
mechanisms and papers.
"""
