"""Horizontal federated learning whose uploads are sums over steps: the other reading of eq. (29).

mgm2021 calls f(X) = sum_i g_i(X) a sum function on gradients, with g_i the gradient of the i-th
local epoch. Here g_i is the sum of the gradients in the steps of that epoch; in
studies/federated_horizontal.py it is their mean. The clip C and the noise for it are the same, so
that a sum over S steps has 1/S of the noise relative to what is released, and is clipped at 1/S of
the mean. All else is as there.
"""

from studies.federated_horizontal import FederatedHorizontal


class FederatedSums(FederatedHorizontal):
    """The study of this module."""

    name = "federated_sums"
    summed = True
