"""One file per study: its query, its grid, its data, and what it measures of a mechanism.

May be imported by paper_figures and site_builder; `experiments.contract.study` finds the studies
for everything else. May import learning, papers, datasets and mechanisms.
"""
