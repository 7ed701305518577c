"""The accountant of any noise against opacus' own and against the composition."""

import pytest

from mechanisms import Budget, Query, get_mechanism
from mechanisms.plans.plan import Release, compose
from mechanisms.privacy.laplace_profile import LaplaceProfile

torch = pytest.importorskip("torch", reason="the bridge to opacus needs torch")
pytest.importorskip("opacus", reason="the bridge to opacus needs opacus")

from opacus import GradSampleModule
from opacus.accountants import RDPAccountant

from mechanisms.bridges.opacus_accountant import ProfileAccountant
from mechanisms.bridges.opacus_optimizer import MechanismOptimizer

pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook")


def test_gaussian_steps_cost_less_than_by_renyi_dp():
    ours, theirs = ProfileAccountant(), RDPAccountant()
    assert ours.get_epsilon(1e-5) == 0
    for _ in range(100):
        for accountant in (ours, theirs):
            accountant.step(noise_multiplier=1.0, sample_rate=0.02)
    assert len(ours) == 100
    assert 0.6 * theirs.get_epsilon(1e-5) < ours.get_epsilon(1e-5) < theirs.get_epsilon(1e-5)
    again = ProfileAccountant()
    again.load_state_dict(ours.state_dict())
    assert again.get_epsilon(1e-5) == ours.get_epsilon(1e-5)


def test_any_noise_is_counted_beside_other_releases():
    model = GradSampleModule(torch.nn.Linear(3, 1))
    query = Query(shape=(4,), l1_sensitivity=0.5)
    mechanism = get_mechanism("laplace").calibrate(query, Budget(epsilon=1.0))
    optimizer = MechanismOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1),
        mechanism=mechanism,
        max_grad_norm=query.l2_sensitivity,
        expected_batch_size=2,
        rng=0,
    )
    other = Release(of=LaplaceProfile(l1_sensitivity=1.0, scale=4.0))
    accountant = ProfileAccountant([other])
    optimizer.attach_step_hook(accountant.get_optimizer_hook_fn(sample_rate=0.1))
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).mean().backward()
        optimizer.step()
    truth = compose([Release(of=mechanism, rate=0.1, times=3), other])
    assert accountant.get_epsilon(1e-3) == truth.epsilon(1e-3).upper
    assert 0.25 < accountant.get_epsilon(1e-3) < 0.25 + 0.6
