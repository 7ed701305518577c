"""Mechanisms for streams that are released step by step, one file per mechanism or family.

All other packages may import this one, like `mechanisms`. Within the project it imports only other
subpackages of `mechanisms`.
"""
