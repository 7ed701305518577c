"""Figures and verdicts of imgm2022, one module per study and one for its theorems.

    features   Figure 1 (type II)           gradients  type I, which the paper only announces

The drawing machinery and the ledger discover these modules; other papers' packages do not import
them. They may import paper_figures' shared modules, the package `suite`, papers, studies and
mechanisms.
"""
