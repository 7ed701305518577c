"""The commands of `python -m mechanisms`."""
