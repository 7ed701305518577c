"""Verdicts on the papers' claims: judges, comparisons, intervals, the ledger, and its pages."""
