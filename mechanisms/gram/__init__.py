"""Mechanisms for Gram matrices (sums of x x^T over records), one file per mechanism or family.

All other packages may import this one, like `mechanisms`. Within the project it imports other
subpackages of `mechanisms`, and the mechanisms at its top level.
"""
