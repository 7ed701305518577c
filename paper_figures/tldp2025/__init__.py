"""tldp2025: the figures, tables and judges of its three studies and of its theorems.

    private_data        Figure 1, Table 5   private_parameters  Figure 3
    private_features    Figure 2

`scores` is the selection that the figures and the judges share.
"""

NAME = "TLDP"
