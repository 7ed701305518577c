"""Releases of many values: record by record, or repeatedly, and what they spend together.

The other packages of learning, and the studies in experiments, import it. It imports mechanisms and
the contract of studies (experiments.contract).
"""
