"""The mathematics of privacy: exact privacy profiles of noise distributions, and audits of samples.

A module here knows noise distributions and worst pairs, never a mechanism.
"""
