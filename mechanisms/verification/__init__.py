"""Compares the claim of a mechanism with its privacy profile and its releases."""
