"""Which mechanism for a query: errors at equal true privacy, ranked."""
