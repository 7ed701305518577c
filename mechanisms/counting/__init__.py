"""Mechanisms for counts and votes, by what one record adds; one file per mechanism or family.

All other packages may import this one, as they may `mechanisms`. It imports the other subpackages
of `mechanisms` and nothing else of the project.
"""
