"""What turns a config into tables: configs, the cells of a run, their processes, rows, aggregation.

May be imported by paper_figures, site_builder and the workflow. May import experiments.contract
(which finds the studies), datasets and mechanisms.
"""
