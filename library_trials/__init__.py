"""Audits of the noise in other libraries, from their wheels, each in a separate environment."""
