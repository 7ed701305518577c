"""Figures and tables of no single paper, and the judge of sensitivities of streams."""
