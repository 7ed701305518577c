"""A report on anybody's noise: its checks, its true privacy, its error beside all others."""
