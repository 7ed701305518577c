"""Workloads of linear queries, and strategies that answer them with little noise."""
