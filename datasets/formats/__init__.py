"""File formats and array types that several data sets share.

Loaders may import this package. It imports `datasets.fetching.data_error` and nothing else of the
project.
"""
