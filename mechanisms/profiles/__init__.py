"""Exact privacy profiles delta(epsilon) of pairs of distributions, with numerical bounds.

The other parts of `mechanisms`, learning, experiments, paper_figures and site_builder may import
this package. It imports nothing from the project: a profile knows two distributions, and neither
queries nor mechanisms.
"""
