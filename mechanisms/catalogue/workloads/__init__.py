"""Mechanisms for workloads of linear queries over a histogram."""
