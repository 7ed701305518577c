"""Exact privacy profiles delta(epsilon) of pairs of distributions, with numerical bounds.

Every other subpackage of `mechanisms` may import this one. It imports nothing of the project: a
profile knows two distributions, and neither queries nor mechanisms.
"""
