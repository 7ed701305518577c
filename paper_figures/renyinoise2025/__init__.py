"""renyinoise2025 (Gilani et al., arXiv:2504.14730): noise of least Renyi divergence."""

NAME = "Renyi-optimised noise"
READ = "its published code"
