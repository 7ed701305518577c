"""Privacy of many releases: composition theorems, random sampling and amplification.

Mechanisms that are calibrated for many releases import this package, and so do studies of training.
It may import `profiles` and the budgets of `contract`.
"""
