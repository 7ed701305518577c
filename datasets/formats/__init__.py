"""File formats and array types that several data sets share."""
