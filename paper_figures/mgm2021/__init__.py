"""Figures, tables and verdicts of mgm2021, one module per study and one for its theorems.

    federated_horizontal  Figure 2          noise_only  Tables 4 and 5
    federated_vertical    Figure 3

The drawing machinery and the ledger discover these modules; other papers' packages do not import
them. They may import paper_figures' shared modules, papers, studies, runs and mechanisms.
"""
