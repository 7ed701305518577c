"""What the papers state: sizes, budgets and numbers, for studies, claims and figures."""
