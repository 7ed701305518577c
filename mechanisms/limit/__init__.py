"""Certified lower bounds on the error of every private mechanism.

`limit.limit` computes the bound; docs/the_limit.md proves it.
"""
