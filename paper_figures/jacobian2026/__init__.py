"""jacobian2026 (Ha et al., arXiv:2605.16812): local noise that is shaped by a Jacobian.

The guarantees with a clipped record have the suite's judge.
"""

NAME = "Jacobian ANR"
READ = "its published code and README"
