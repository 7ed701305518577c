"""Labelled records as arrays: images, tables, texts and a citation graph, split for testing.

May be imported by learning, studies and everything above them. May import datasets.
"""
