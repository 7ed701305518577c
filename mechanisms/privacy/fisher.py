"""kappa = Fisher information x variance: what i.i.d. noise costs in high dimension.

I.i.d. noise from a symmetric distribution with variance v and Fisher information of location I is
added to each of M elements. As M grows, a change of l2 norm s that is spread over all elements has
a privacy loss that tends to that of Gaussian noise with mu = s sqrt(I): a sum of M small losses,
each of variance I s^2 / M. Gaussian noise of the same variance has mu = s / sqrt(v). By the
Cramer-Rao inequality kappa = I v >= 1, with equality for the Gaussian alone. To be as private
against that one change, any other distribution needs kappa times the variance.
"""

GAUSSIAN, LAPLACE = 1.0, 2.0
# What tables say about a column of kappa.
MEANING = (
    "kappa is the Fisher information times the variance of i.i.d. noise: in high dimension, such "
    "noise needs at least kappa times the variance of Gaussian noise for the same privacy."
)
