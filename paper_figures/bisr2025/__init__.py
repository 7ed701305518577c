"""bisr2025 (Kalinin et al., arXiv:2505.12128): the banded inverse square root."""

NAME = "Banded inverse square root"
