"""What turns a config into tables: configs, the cells of a run, their processes, rows, aggregation.

May be imported by paper_figures and the workflow. May import experiments, learning, papers,
datasets and mechanisms.
"""
