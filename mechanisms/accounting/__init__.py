"""Privacy of many releases: composition theorems, random sampling and amplification.

Mechanisms that are calibrated for many releases import this package, as do learning and the judges
of papers. It may import `profiles` and the budgets of `contract`.
"""
