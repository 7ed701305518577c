"""Build the site of a run, and the files of the repository that are generated from code."""
