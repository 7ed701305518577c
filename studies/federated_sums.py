"""Horizontal federated learning whose uploads are sums over steps: the other reading of eq. (29).

mgm2021 calls f(X) = sum_i g_i(X) a sum function on gradients, where g_i is the gradient of the i-th
local epoch. Here g_i is the sum of the gradients over the steps of that epoch; in
studies/federated_horizontal.py it is their mean. Both use the same clip C and the same noise.
Relative to the gradient, a sum over S steps therefore gets 1/S of the noise and is clipped S times
as tightly. Everything else is the same.
"""

from studies.federated_horizontal import FederatedHorizontal


class FederatedSums(FederatedHorizontal):
    """The study of this module."""

    name = "federated_sums"
    summed = True
