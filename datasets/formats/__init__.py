"""File formats and array types that several data sets share.

Loaders may import this package. Within the project it imports `datasets.fetching.data_error` only.
"""
