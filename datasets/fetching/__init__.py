"""Getting the files of a data set into the data folder: downloads, mirrors, archives, checksums.

`datasets` and the loaders may import this package. It imports `datasets.entry`, and `fetch` looks
names up in `datasets.catalogue`.
"""
