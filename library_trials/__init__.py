"""Audits of the noise in other libraries, from their wheels, each in an environment of its own."""
