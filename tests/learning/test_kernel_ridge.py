"""Kernel ridge regression in explicit features against scikit-learn's dual problem."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from learning.kernel_ridge import predict


@pytest.mark.parametrize(("kernel", "gamma"), [("linear", None), ("polynomial", 0.3), ("rbf", 0.3)])
def test_predictions_equal_those_of_the_dual_problem(kernel, gamma):
    rng = np.random.default_rng(0)
    fitted, asked = rng.standard_normal((40, 3)), rng.standard_normal((7, 3))
    targets = rng.standard_normal(40)
    oracle = KernelRidge(kernel=kernel, gamma=gamma, degree=3, coef0=1, alpha=0.1)
    found = predict(kernel, fitted, targets, asked, ridge=0.1, gamma=gamma)
    assert found == pytest.approx(oracle.fit(fitted, targets).predict(asked), rel=1e-8, abs=1e-10)
