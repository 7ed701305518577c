"""The results of one run as a static site: pages, charts and downloads in one folder.

Nothing imports it but its command line, the workflow and tests. It may import every other package;
it reads the tables, drawings and claims of the run, the registry of mechanisms, the catalogue of
data sets and what the papers state.
"""
