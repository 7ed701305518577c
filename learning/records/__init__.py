"""Labelled records as arrays: images, tables, texts and a citation graph, split for testing."""
