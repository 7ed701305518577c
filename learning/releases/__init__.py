"""Releases of many values: record by record, or repeatedly, and what they spend together.

The other packages of learning, and the studies in studies, import it. It imports mechanisms and
the contract of studies (studies.base).
"""
