"""An audit of training from a single run, with white-box canaries (Steinke et al. 2023).

m canaries are extra records, each included by the toss of a fair coin. The gradient of a canary has
norm C and a single nonzero element at every step, in a different place for each: "Dirac canaries",
orthogonal to one another. In every step a canary is sampled like any record. The adversary of
differential privacy knows all other records and sees every release: a canary's score is the inner
product of its direction with the release minus the contribution of the others, summed over the
steps. The canaries with the largest scores are guessed to be included, and equally many with the
smallest scores to be left out.

Source: Steinke, Nasr and Jagielski, Privacy Auditing with One (1) Training Run (NeurIPS 2023,
arXiv:2305.08846), Section 6.
"""

from dataclasses import dataclass, field

import numpy as np

from learning.training.clipping import Clipping
from learning.training.one_run_audit import Guesses, epsilon_by_count
from mechanisms import Mechanism

# How often a bound may fail, and the shares of the canaries that are guessed; each share has an
# equal part of the error, so that the best of them counts.
ERROR = 0.05
GUESSED = (0.1, 0.3, 1.0)


@dataclass(kw_only=True)
class CanaryAudit:
    """Puts canaries into the sums of a training run, and looks for them in the releases.

    Args:
        mechanism: What releases the sum of every step.
        clipping: C, and the clipping of the sum.
        rate: Probability that a record is in the sample of a step.
        batch: Expected records of a step.
        canaries: m, at most the number of parameters.
        size: The number of parameters, M.
        seed: Of coins, coordinates and samples.
    """

    mechanism: Mechanism
    clipping: Clipping
    rate: float
    batch: int
    canaries: int
    size: int
    seed: int
    _scores: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._places = self._rng.choice(self.size, self.canaries, replace=False)
        self._inside = self._rng.random(self.canaries) < 0.5
        self._scores = np.zeros(self.canaries)

    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The release of a sum (1, M) with the canaries that were sampled."""
        sampled = self._inside & (self._rng.random(self.canaries) < self.rate)
        total = value[0].copy()
        total[self._places[sampled]] += self.clipping.bound
        if self.mechanism.guarantee != "none":
            total = self.clipping.clip_sum(total, self.batch)
        released = self.mechanism.release(total[None], rng)
        self._scores += released[0, self._places] - value[0, self._places]
        return released

    def best(self, delta: float) -> tuple[float, Guesses]:
        """A lower bound on epsilon at `delta` for all releases so far, at 95% confidence.

        Adjacency: one record is added or removed. With it come the guesses that prove it, at a
        confidence of 1 - 0.05 / 3.
        """
        order = np.argsort(self._scores, kind="stable")
        bounds = []
        for share in GUESSED:
            half = round(share * self.canaries / 2)
            # Of an odd number, the one in the middle is not guessed.
            half = min(half, self.canaries // 2)
            correct = np.sum(self._inside[order[self.canaries - half :]])
            correct += np.sum(~self._inside[order[:half]])
            found = Guesses(canaries=self.canaries, guesses=2 * half, correct=int(correct))
            bounds.append((epsilon_by_count(found, delta, ERROR / len(GUESSED)), found))
        return max(bounds, key=lambda bound: bound[0])
