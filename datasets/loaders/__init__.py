"""One file per data set: its `ENTRY` (addresses, checksums, licence, citation) and its `parse`
of the verified files; `load` where the data are bundled or simulated.

The catalogue finds every module of this package, so a new data set is one new file (start from
`extend/dataset.py`). Only the catalogue may import this package, and studies that need the
constants of a loader; the rest of the project reads data through `datasets.load`. A loader may
import `datasets.entry`, `datasets.fetching` and `datasets.formats`.
"""
