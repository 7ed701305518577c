"""Exact privacy profiles delta(epsilon) of pairs of distributions, with numerical bounds.

Every other room may import them. They import nothing of the project: a profile knows two
distributions, and neither queries nor mechanisms.
"""
