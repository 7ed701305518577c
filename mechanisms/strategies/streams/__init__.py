"""Factorisations of workloads over streams: prefix sums, momentum, participations."""
