"""lap2026 (CSF 2026, arXiv:2602.23516): the noise of Lap2 in DP-SGD, by its Fisher information."""

NAME = "Lap2"
