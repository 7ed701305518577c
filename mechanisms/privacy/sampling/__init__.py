"""Profiles of runs that sample their records, and the accounting of papers."""
