"""Factorisations A = B C of a stream's workload: which noise to add, and the error it leaves.

The noise and the mechanisms of streams import this package, and so does the study of continual
release. It may import `contract` and `strategies`.
"""
