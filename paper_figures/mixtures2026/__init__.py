"""mixtures2026 (Liu, Selvi and Wiesemann, arXiv:2605.28078): Gaussian mixtures for one number."""

NAME = "Gaussian mixtures"
READ = "its published code"
