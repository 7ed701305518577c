"""Functions that decide the claims of the ledger, one module per paper or kind of claim."""
