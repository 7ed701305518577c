"""Releases of many values: record by record, or repeatedly, and what they spend together."""
