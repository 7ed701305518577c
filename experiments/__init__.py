"""The workloads: queries, data sets, models, metrics and the runner of one cell."""
