"""The site of a run, and the pages of the repository that are generated from code."""
