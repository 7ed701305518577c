"""bifr2026 (Kalinin et al., arXiv:2605.18379): inverse factors with few bands."""

NAME = "gamma-BIFR"
