"""Audits any mechanism by its outputs alone: a class, a function, or two files of outputs."""
