"""The least noise that any private mechanism can add: certified lower bounds on its error.

`limit.limit` gives the bound, docs/the_limit.md its proof.
"""
