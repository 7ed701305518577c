"""Getting the files of a data set into the data folder: downloads, mirrors, archives, checksums.

The other parts of `datasets` may import this package, `entry` and `formats` only its `DataError`.
It imports `datasets.entry`, and `fetch` looks names up in `datasets.catalogue`.
"""
