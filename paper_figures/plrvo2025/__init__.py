"""plrvo2025 (CCS 2025, arXiv:2509.06264): PLRV-O noise in DP-SGD, by its Fisher information."""

NAME = "PLRV-O"
MECHANISMS = ("plrv-o",)
