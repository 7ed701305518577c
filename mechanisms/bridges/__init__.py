"""Our noise in other libraries."""
