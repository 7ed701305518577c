"""l2mechanism2025 (Joseph, Kulesza and Yu, arXiv:2502.15929): the l2 mechanism's own numbers."""

NAME = "The l2 mechanism"
READ = "its published code"
MECHANISMS = ("l2",)
