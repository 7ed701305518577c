"""Audits of the noise and totals of other libraries, from wheels in separate environments."""
