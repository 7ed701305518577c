"""Verdicts on the papers' claims: rules, intervals, the ledger, and its pages."""
