"""Matrix factorisation: noise on a stream for its prefix sums, or for SGD with momentum."""

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.public_information import MOMENTUM, PARTICIPATIONS, SEPARATION
from mechanisms.noise.stream_gaussian import StreamGaussian
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.option import (
    Option,
    choice,
    is_count,
    is_number,
    positive_integer,
    probability,
)
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_delta
from mechanisms.strategies.streams.designs import FAMILIES, Design
from mechanisms.strategies.streams.designs import factorisation as found_for
from mechanisms.strategies.streams.factorisation import StreamError
from mechanisms.strategies.streams.optimal_stream import OptimalFactorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload


class MatrixFactorisation(AdditiveMechanism):
    """x + sigma C^-1 z for a stream x: its workload A answers with A x + sigma B z, A = B C.

    The answer (d, n) holds one column per step, of l2 sensitivity s. One person changes
    `participations` columns at most, any two at least `separation` apart, each by at most s
    (add-remove: to or from zero; replace: to another). C x then moves by s sens(C), and

        sigma = s sens(C) / mu,

    with the mu of the budget (Balle and Wang 2018, Theorem 8): the release is exactly mu-GDP where
    sens(C) is known, and at least that private where it is bounded from above. Gaussian noise keeps
    this where later steps depend on earlier answers (Denisov et al. 2022, Theorem 2.1).

    Each answer A_t (x + sigma C^-1 z) needs the columns up to t alone, so that it can be given when
    step t is over. All of them together are the release times A, which loses nothing.
    """

    key = "factorisation"
    title = "Matrix factorisation"
    paper = "Choquette-Choo et al. 2023"
    theorem = "arXiv:2306.08153, Gaussian noise on C x under (k, b)-participation"
    guarantee = "approximate"
    look = ("#3B5BA5", "s", 47)
    variants = {
        "factorisation-identity": ("identity", ("#000000", "^", 48)),
        "factorisation-tree": ("binary tree", ("#999933", "p", 49)),
        "factorisation-bisr": ("BISR", ("#66CCEE", "<", 50)),
        "factorisation-blt": ("BLT", ("#E69F00", "D", 51)),
        "factorisation-bandmf": ("BandMF", ("#009E73", "o", 52)),
        "factorisation-dense": ("dense", ("#D55E00", "*", 53)),
        "factorisation-banded": ("banded", ("#7B3294", "h", 54)),
    }
    options = {
        "factorisation": choice(*FAMILIES, description="C; see mechanisms/factorisations"),
        "participations": positive_integer(1, "largest number of steps that one person changes"),
        "separation": positive_integer(1, "steps between two participations, at least"),
        "bands": Option(
            None,
            "an integer >= 1, or null for the power of two with the least error (banded: twice "
            "the separation)",
            lambda bands: bands is None or is_count(bands),
            "bands of C (bandmf, banded) or of its inverse (bisr)",
        ),
        "buffers": positive_integer(4, "buffers of blt"),
        "decay": probability(1.0, "1 - learning rate x weight decay of the workload"),
        "momentum": Option(
            0.0,
            "a number in [0, 1), below decay",
            lambda momentum: is_number(momentum) and 0 <= momentum < 1,
            "momentum of the workload; 0 with decay 1 are prefix sums",
        ),
    }

    public_information = {
        "participations": PARTICIPATIONS,
        "separation": SEPARATION,
        "momentum": MOMENTUM,
    }

    @classmethod
    def noise_for(
        cls,
        query: Query,
        budget: Budget,
        *,
        factorisation: str,
        participations: int,
        separation: int,
        bands: int | None,
        buffers: int,
        decay: float,
        momentum: float,
    ):
        require_delta(budget)
        if not query.one_column:
            raise Unsupported(
                "needs structure 'records' under add-remove or replace: a stream with one column "
                "per step"
            )
        participation = Participation(times=participations, separation=separation)
        design = Design(
            family=factorisation,
            workload=StreamWorkload(steps=query.shape[1], decay=decay, momentum=momentum),
            participation=participation,
            bands=bands,
            buffers=buffers,
        )
        found = found_for(design)
        mu = float(mu_for(budget.epsilon, budget.delta))
        return StreamGaussian(
            shape=query.shape,
            sigma=query.reach * found.sensitivity(participation).upper / mu,
            factorisation=found,
            participation=participation,
        )

    @property
    def workload(self) -> StreamWorkload:
        """A."""
        return StreamWorkload(
            steps=self.query.shape[1],
            decay=self.settings["decay"],
            momentum=self.settings["momentum"],
        )

    def answers(self, release: np.ndarray) -> np.ndarray:
        """A times a release, (d, n): the prefix sums, or the iterates of SGD, after every step."""
        return self.workload.applied(release)

    def expected_error(self) -> StreamError:
        """Mean and maximum over the steps of the variance of one element of `answers`."""
        variances = self.noise.sigma**2 * self.noise.factorisation.variances(self.workload)
        return StreamError(float(variances.mean()), float(variances.max()))

    def optimality_gap(self) -> float | None:
        """The certified relative distance from the least mean error, or None without certificate.

        The least is over all factorisations. `dense` has a certificate for one participation,
        `banded` for that of the mechanism.
        """
        found = self.noise.factorisation
        if not isinstance(found, OptimalFactorisation):
            return None
        return found.gap if found.certified(self.noise.participation) else None
