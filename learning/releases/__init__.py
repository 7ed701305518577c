"""Releases of many values: record by record, several times over, and what they spend together.

Learning's other rooms and the studies in experiments import it. It imports mechanisms and the
contract of studies (experiments.contract).
"""
