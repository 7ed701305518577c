"""Exact privacy profiles delta(epsilon) of pairs of distributions, with numerical bounds.

Other subpackages of `mechanisms` may import this one. It imports nothing from the project: a
profile knows two distributions, and neither queries nor mechanisms.
"""
