"""The study of correlated noise in training: batches, privacy, rows and checkpoints."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from measured_values import number
from one_case import case_of, checked, measured, setup_of, variant

from learning.networks.tutorial_networks import TUTORIALS
from learning.records.labelled import load
from learning.training import noisy_descent
from learning.training.clipping import Clipping
from learning.training.stream_noise import StreamRelease, participation, stream_query
from learning.training.trial import Seeds
from mechanisms import Budget
from mechanisms.base.public_information import public_options
from mechanisms.privacy.gaussian_profile import mu_for

SETTINGS = {
    "datasets": ["digits"],
    "mechanisms": ["factorisation"],
    "epsilons": [2.0],
    "delta": 1e-5,
    "epochs": {"digits": 3},
    "records": {"digits": 105},
    "batch": {"digits": 25},
    "learning_rates": {"digits": [0.5, 1.0]},
    "trials": 2,
}
TOTAL = Budget(epsilon=2.0, delta=1e-5)
MU = float(mu_for(2.0, 1e-5))
PLAN = noisy_descent.DescentPlan(
    batch=25, epochs=3, learning_rate=1.0, clipping=Clipping(bound=0.5), fixed_order=True
)
RECORDS = 105
NETWORK = TUTORIALS["digits"]
SEEDS = Seeds(start=1, batches=2, noise=3)


def measure(chosen, calibration="published", **changed):
    setup = setup_of("dpmf", "digits", checked("dpmf", SETTINGS | changed))
    return measured(case_of(setup, chosen, calibration))


def stream(**options):
    """The mechanism of the run of `PLAN`."""
    chosen = variant("factorisation", **options)
    public = public_options(chosen.mechanism, participation(PLAN, RECORDS))
    return chosen.calibrate(stream_query(PLAN, RECORDS), TOTAL, **public)


def test_every_record_takes_part_once_per_epoch_always_at_the_same_step():
    epochs = [list(PLAN.batches(RECORDS, epoch, seed=5)) for epoch in range(3)]
    assert [len(epoch) for epoch in epochs] == [4, 4, 4] and PLAN.steps(RECORDS) == 12
    assert sorted(np.concatenate(epochs[0])) == list(range(RECORDS))
    assert {len(batch) for batch in epochs[0]} == {26, 27}
    for epoch in epochs[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(epoch, epochs[0], strict=True))
    other = next(PLAN.batches(RECORDS, 0, seed=6))
    assert not np.array_equal(other, epochs[0][0])


@pytest.mark.parametrize("family", ["identity", "square-root", "bandmf", "blt", "dense"])
def test_what_a_record_changes_is_covered_by_the_noise(family):
    """Over all elements: mu^2 = tr(D^T S^-1 D) for any vectors D of norm C in a record's steps."""
    mechanism = stream(factorisation=family)
    precision = np.linalg.inv(mechanism.noise.sigma**2 * mechanism.noise.factorisation.covariance())
    rng, found = np.random.default_rng(0), []
    for start in range(4):
        moved = rng.standard_normal((3, 6)) + 2
        for vectors in (moved, np.ones((3, 1))):
            change = np.zeros((12, vectors.shape[1]))
            change[start::4] = 0.5 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            found.append(math.sqrt(np.sum(change * (precision @ change))))
    assert max(found) == pytest.approx(MU, rel=1e-8)


def test_rows_of_a_factorisation():
    values = measure(variant("factorisation", factorisation="bandmf", bands=4))
    assert number(values, "steps") == 12 and number(values, "records") == 105
    assert number(values, "noise_memory") == 3
    for bound in ("lower", "upper"):
        assert number(values, f"true_delta_{bound}") == pytest.approx(1e-5, rel=1e-6)
    assert number(values, "true_epsilon_upper") == pytest.approx(2.0, rel=1e-6)
    runs = [(v.at["learning_rate"], v.trial) for v in values if v.metric == "final_test_accuracy"]
    assert runs == [(0.5, 0), (0.5, 1), (1.0, 0), (1.0, 1)]


def test_independent_noise_has_the_error_of_sums():
    values = measure(
        variant("factorisation", factorisation="identity"),
        trials=1,
        learning_rates={"digits": [1.0]},
    )
    # sigma^2 t for step t, sigma = sqrt(k) / mu.
    assert number(values, "sum_error") == pytest.approx(math.sqrt(3 * 6.5) / MU)


def test_dpsgd_beside_it_is_rescaled_to_the_same_budget():
    rates = {"digits": [1.0]}
    values = measure(variant("moments-accountant"), "exact", trials=1, learning_rates=rates)
    assert 0.98e-5 < number(values, "true_delta_upper") <= 1e-5
    assert number(values, "sampling_rate") == pytest.approx(25 / 105)
    sigma = number(values, "noise_norm") / math.sqrt(NETWORK.size)
    assert number(values, "sum_error") == pytest.approx(sigma * math.sqrt(13 / 2))


def test_too_large_a_batch_is_refused():
    with pytest.raises(ValueError, match="at most the number of training records, 105, got 200"):
        measure(variant("factorisation"), batch={"digits": 200})


def test_a_killed_run_goes_on_with_the_noise_that_it_would_have_had(tmp_path):
    data = load("digits", None, RECORDS, seed=0)
    mechanism = stream(factorisation="blt")

    def run(name, calls=math.inf):
        release, made = StreamRelease(mechanism, NETWORK.size, SEEDS.noise), 0

        def counted(value, rng):
            nonlocal made
            made += 1
            if made > calls:
                raise KeyboardInterrupt
            return release(value, rng)

        noisy_descent.train(
            NETWORK,
            data,
            PLAN,
            counted,
            SEEDS,
            resumed=release.resumed,
            checkpoint=tmp_path / name,
        )

    run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("killed", calls=6)
    run("killed")
    found, expected = (
        torch.load(tmp_path / name)["parameters"].numpy() for name in ("killed", "whole")
    )
    assert found.tobytes() == expected.tobytes()


def test_the_end_of_a_run_has_the_noise_of_its_last_sum(tmp_path):
    """Without gradients the parameters move by -rate / batch times the summed noise."""
    data = load("digits", None, RECORDS, seed=0)
    mechanism = stream()
    release = StreamRelease(mechanism, NETWORK.size, 7)
    noisy_descent.train(
        NETWORK,
        data,
        replace(PLAN, learning_rate=25.0),
        lambda value, rng: release(0 * value, rng),
        SEEDS,
        checkpoint=tmp_path / "x",
    )
    moved = torch.load(tmp_path / "x")["parameters"].numpy()
    moved = moved - NETWORK.initial(np.random.default_rng(SEEDS.start))
    stated = mechanism.noise.sigma**2 * mechanism.noise.factorisation.variances(mechanism.workload)
    # Four standard errors of a variance over 2410 elements.
    assert np.mean(moved.astype(float) ** 2) == pytest.approx(stated[-1], rel=0.115)
