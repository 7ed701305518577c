"""One file per study: its query, its grid, its data, and what it measures of a mechanism.

May be imported by runs and paper_figures, which find studies without a list of them. May import
learning, papers, datasets and mechanisms.
"""
