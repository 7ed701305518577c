"""gengauss2025 (Rinberg et al., arXiv:2506.12553): generalised Gaussian noise in DP-SGD."""

NAME = "Generalised Gaussian"
READ = "its published code and README"
