"""What a mechanism is given: the query, its sensitivities, the budget and the options."""
