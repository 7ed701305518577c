"""Figures and tables that belong to no single paper."""
