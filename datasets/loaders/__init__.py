"""One module per data set, with its `ENTRY`: addresses, checksums, licence and citation.

A module has `parse`, which reads the verified files, or `load` if the data are bundled or
simulated. The catalogue finds every module of this package, so a new data set is one new file
(start from `extend/dataset.py`).
"""
