"""Mechanisms for sums over a stream."""
