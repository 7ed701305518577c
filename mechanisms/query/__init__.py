"""The inputs of a mechanism: the query, its sensitivities, the budget and the options."""
