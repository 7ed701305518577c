"""The total privacy of many releases: of different mechanisms, sampled, in parallel, searched."""
