"""nsr2025 (Henzinger, Kalinin and Upadhyay, arXiv:2509.14334): the norm of counting."""

NAME = "Normalised square root"
