"""The pages of a run: its site, and the pages that are generated from code."""
