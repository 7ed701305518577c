"""Bounds of epsilon by prv_accountant, a line of JSON for each case of a JSON list on standard
input.

A case has `releases` (kind, arguments of its class, times), `delta` and `eps_error`, the accuracy
that is asked for. The answer has the bounds or the error, and CPU seconds.
"""

import json
import sys
import time

import prv_accountant

CLASSES = {
    "Gaussian": prv_accountant.GaussianMechanism,
    "Laplace": prv_accountant.LaplaceMechanism,
    "sampled": prv_accountant.PoissonSubsampledGaussianMechanism,
}
BOUNDS = ("lower", "value", "upper")


def bounds(losses, times, delta, eps_error):
    accountant = prv_accountant.PRVAccountant(
        prvs=losses,
        max_self_compositions=times,
        eps_error=eps_error,
        # Its documentation calls this typical.
        delta_error=delta / 1000,
    )
    return dict(zip(BOUNDS, accountant.compute_epsilon(delta, times), strict=True))


for case in json.load(sys.stdin):
    started = time.process_time()
    losses = [CLASSES[kind](**arguments) for kind, arguments, _ in case["releases"]]
    times = [each[2] for each in case["releases"]]
    try:
        answer = bounds(losses, times, case["delta"], case["eps_error"])
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**answer, "seconds": time.process_time() - started}), flush=True)
