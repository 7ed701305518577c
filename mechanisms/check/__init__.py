"""Checks whether a mechanism does what it states, by its releases and its privacy profile."""
