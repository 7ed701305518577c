"""DP-SGD steps with a mechanism's noise against opacus' own."""

import math
import os

import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, get_mechanism

torch = pytest.importorskip("torch", reason="the bridge to opacus needs torch")
pytest.importorskip("opacus", reason="the bridge to opacus needs opacus")

from opacus import GradSampleModule
from opacus.accountants import RDPAccountant
from opacus.optimizers import DPOptimizer

from mechanisms.bridges.opacus_optimizer import MechanismOptimizer

# What opacus warns of in networks as small as these.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Full backward hook"),
    pytest.mark.filterwarnings("ignore:Optimal order is the largest alpha"),
]
CLIP, BATCH = 0.5, 8
BUDGET = Budget(epsilon=1.0, delta=1e-5)


@pytest.fixture
def model():
    return new_model()


def new_model():
    """A network of 43 parameters, the same in every call."""
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
    return GradSampleModule(layers)


def size_of(model):
    return sum(p.numel() for p in model.parameters())


def calibrated(model, key, *, shape=None, **query):
    sensitivity = {"l2_sensitivity": CLIP} | query
    query = Query(shape=shape or (size_of(model),), **sensitivity)
    return get_mechanism(key).calibrate(query, BUDGET, "published")


def optimizer_of(model, mechanism, **options):
    defaults = {"max_grad_norm": CLIP, "expected_batch_size": BATCH}
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    return MechanismOptimizer(
        sgd, mechanism=mechanism, rng=np.random.default_rng(1), **defaults | options
    )


def backward(model, records=BATCH):
    generator = torch.Generator().manual_seed(2)
    inputs = torch.randn(records, 6, generator=generator)
    labels = torch.randint(3, (records,), generator=generator)
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()


def test_without_noise_a_step_is_opacus_own(model):
    other = new_model()
    ours = optimizer_of(model, calibrated(model, "non-private"))
    own = DPOptimizer(
        torch.optim.SGD(other.parameters(), lr=0.1),
        noise_multiplier=0.0,
        max_grad_norm=CLIP,
        expected_batch_size=BATCH,
    )
    for each, optimizer in ((model, ours), (other, own)):
        for _ in range(3):
            optimizer.zero_grad()
            backward(each)
            optimizer.step()
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def noises(model, optimizer, draws):
    """Noise of many steps on one batch, (draws, parameters)."""
    optimizer.zero_grad()
    backward(model)
    optimizer.clip_and_accumulate()
    exact = torch.cat([p.summed_grad.reshape(-1) for p in model.parameters()])
    drawn = []
    for _ in range(draws):
        for p in model.parameters():
            vars(p.summed_grad).pop("_processed", None)
        optimizer.add_noise()
        drawn.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]) - exact)
    return torch.stack(drawn).detach().numpy()


def test_gaussian_noise_has_the_law_of_opacus_own(model):
    mechanism = calibrated(model, "gaussian-analytic")
    ours = optimizer_of(model, mechanism)
    # sigma / clip at (1, 1e-5), Balle and Wang 2018.
    assert ours.noise_multiplier == pytest.approx(3.73063163481594, rel=1e-12)
    own = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1),
        noise_multiplier=ours.noise_multiplier,
        max_grad_norm=CLIP,
        expected_batch_size=BATCH,
        generator=torch.Generator().manual_seed(3),
    )
    mine, theirs = noises(model, ours, 400), noises(model, own, 400)
    assert mine.shape == (400, size_of(model)) == theirs.shape
    assert stats.ks_2samp(mine.ravel(), theirs.ravel()).pvalue > 0.01
    for drawn in (mine, theirs):
        law = stats.norm(scale=3.73063163481594 * CLIP)
        assert stats.kstest(drawn.ravel(), law.cdf).pvalue > 0.01
    # Every parameter has noise of its own: no two columns move together.
    assert np.abs(np.corrcoef(mine.T) - np.eye(size_of(model))).max() < 0.25


def test_other_noise_keeps_its_own_law(model):
    """The l2 mechanism: the radius over clip / epsilon is Gamma(M), whatever the shape."""
    size = size_of(model)
    mechanism = calibrated(model, "l2", shape=(1, size))
    radii = np.linalg.norm(noises(model, optimizer_of(model, mechanism), 500), axis=1)
    assert stats.kstest(radii / CLIP, stats.gamma(size).cdf).pvalue > 0.01


def test_gradients_keep_their_places(model):
    """An answer is split among the parameters in their order."""

    class Counts(get_mechanism("non-private")):
        only_adds_noise = False

        def _release(self, value, rng):
            return np.arange(value.size, dtype=value.dtype).reshape(value.shape)

    query = Query(shape=(size_of(model),), l2_sensitivity=CLIP)
    optimizer = optimizer_of(model, Counts.calibrate(query, BUDGET), loss_reduction="sum")
    optimizer.zero_grad()
    backward(model)
    assert optimizer.pre_step()
    start = 0
    for p in model.parameters():
        expected = torch.arange(start, start + p.numel(), dtype=p.dtype).view_as(p)
        assert torch.equal(p.grad, expected)
        start += p.numel()


def test_gradients_are_not_used_twice(model):
    optimizer = optimizer_of(model, calibrated(model, "gaussian-analytic"))
    backward(model)
    optimizer.step()
    with pytest.raises(ValueError, match="zero_grad"):
        optimizer.step()


def test_opacus_accounts_for_gaussian_noise_and_for_no_other(model):
    accountant, direct = RDPAccountant(), RDPAccountant()
    optimizer = optimizer_of(model, calibrated(model, "gaussian-analytic"))
    optimizer.attach_step_hook(accountant.get_optimizer_hook_fn(sample_rate=0.01))
    for _ in range(5):
        optimizer.zero_grad()
        backward(model)
        optimizer.step()
        direct.step(noise_multiplier=3.73063163481594, sample_rate=0.01)
    assert accountant.get_epsilon(1e-5) == pytest.approx(direct.get_epsilon(1e-5), rel=1e-12)

    other = optimizer_of(model, calibrated(model, "l2"))
    assert math.isnan(other.noise_multiplier)
    with pytest.raises(ValueError, match="no accountant for the noise of l2"):
        other.attach_step_hook(accountant.get_optimizer_hook_fn(sample_rate=0.01))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"shape": (7,)}, "one element for each of the"),
        ({"l2_sensitivity": 1.0}, "changes by 0.5"),
        ({"adjacency": "replace"}, "changes by 1, which"),
        ({"adjacency": "local"}, "not a local answer"),
    ],
)
def test_a_query_that_does_not_fit_is_told(model, query, words):
    with pytest.raises(ValueError, match=words):
        optimizer_of(model, calibrated(model, "gaussian-analytic", **query))
    with pytest.raises(TypeError, match="calibrated Mechanism"):
        optimizer_of(model, get_mechanism("gaussian"))


def test_a_fork_draws_no_noise(model, monkeypatch):
    """Its copy of the generator would repeat the noise of the process that it was forked from."""
    optimizer = optimizer_of(model, calibrated(model, "gaussian-analytic"))
    child = os.getpid() + 1
    monkeypatch.setattr(os, "getpid", lambda: child)
    with pytest.raises(RuntimeError, match=r"is a fork of .* would draw the same noise"):
        optimizer.add_noise()
