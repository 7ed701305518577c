"""Figures and tables of no single paper."""
