"""kappa of noise, and mu of many small shifts."""

from mechanisms import Budget, Query, get_mechanism


def test_noises_know_their_kappa():
    query = Query(shape=(4,), l2_sensitivity=1.0, l1_sensitivity=2.0)
    budget = Budget(epsilon=0.5, delta=1e-5)
    for key, kappa in (("gaussian", 1.0), ("laplace", 2.0), ("r1smg", None)):
        assert get_mechanism(key).calibrate(query, budget).noise.kappa() == kappa
