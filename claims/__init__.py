"""Verdicts on the papers' claims: judges, comparisons, intervals, and the ledger with its pages."""
