"""One file per data set: its `ENTRY` (addresses, checksums, licence, citation) and its `parse`
of the verified files; `load` where the data are bundled or simulated.

The catalogue finds every module of this package, so a new data set is one new file (start from
`extend/dataset.py`).
"""
