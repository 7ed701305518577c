"""Sizes, budgets and numbers that the papers state, for studies, claims and figures."""
