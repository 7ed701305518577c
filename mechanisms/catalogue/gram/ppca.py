"""PPCA: the exponential mechanism over subspaces, a draw from a matrix Bingham distribution."""

import warnings

import numpy as np

from mechanisms.base.mechanism import Mechanism
from mechanisms.noise.bingham import CONVERGED, sample_bingham
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.query.option import positive_integer
from mechanisms.query.requirements import require_gram


class NotConverged(UserWarning):
    """The chains still differ at the sampler's limit: a draw may not follow the stated density."""


class Ppca(Mechanism):
    """k orthonormal components V of density ~ exp(eps tr(V^T A V) / (2 B^2)), released as V V^T.

    The paper has exp(n eps tr(V^T A V) / 2) for A = (1/n) sum x x^T of n records in the unit ball.
    The release has the query's shape (d, d): the projector onto the span of the k components, which
    are its eigenvectors of eigenvalue 1 (the density does not order them).

    tr(V^T A V) changes by |V^T x|^2 in [0, B^2] if x is added and by |V^T x|^2 - |V^T y|^2 in
    [-B^2, B^2] if x replaces y, so the exponential mechanism is epsilon-DP. The ratio of the
    normalising constants is an average of the same ratio of densities. So the loss is at most
    epsilon under replace, and at most epsilon / 2 under add-remove, where the change has one sign.
    If k < d, data sets come arbitrarily close to both bounds: many records in k directions that are
    orthogonal to x and include y hold the average at one end, and a V that spans x and not y holds
    the ratio at the other. So half of epsilon is wasted under add-remove; the exact calibration at
    delta = 0 spends it.

    The guarantee holds for the exact density. Draws are the last states of Markov chains, see
    `sample_bingham`; `release_with_diagnostics` returns their convergence.
    """

    key = "ppca"
    title = "PPCA"
    paper = "Chaudhuri et al. 2013"
    theorem = "Algorithm PPCA (exponential mechanism)"
    guarantee = "pure"
    look = ("#222255", "*", 27)
    options = {"components": positive_integer("k <= d, the components that are released together")}

    @classmethod
    def build(cls, query, budget, calibration, settings):
        require_gram(query)
        if settings["components"] > query.shape[0]:
            raise ValueError(
                f"option components must be at most d = {query.shape[0]}, got "
                f"{settings['components']}"
            )
        return super().build(query, budget, calibration, settings)

    @property
    def _spent(self) -> float:
        """The largest loss under this adjacency, as a share of the density's epsilon."""
        return 1.0 if self.query.adjacency == "replace" else 0.5

    @property
    def _density_epsilon(self) -> float:
        """The eps of the density: at the exact calibration the largest loss is the budget's."""
        exact = self.calibration == "exact"
        return self.budget.epsilon / (self._spent if exact else 1.0)

    def profile(self):
        """Return the bound for any release of this largest loss, which is approached if k < d."""
        largest = self._spent * self._density_epsilon
        known = self.settings["components"] < self.query.shape[0]
        return BoundedProfile(
            above=PureProfile(largest=largest),
            attained_loss=largest if known else 0.0,
            slack="its normaliser depends on the data, so that only the largest privacy loss is "
            "known",
        )

    def _release(self, value, rng):
        return self._releases(value, rng, 1)[0]

    def _releases(self, value, rng, trials):
        """Draw answers (trials, d, d) from one eigendecomposition.

        Warns:
            NotConverged: The chains had not converged.
        """
        released, diagnostics = self._drawn(value, rng, trials)
        if diagnostics["r_hat"] >= CONVERGED:
            warnings.warn(
                f"ppca: the chains have not converged, R-hat {diagnostics['r_hat']:.3g} after "
                f"{diagnostics['sweeps']:.0f} sweeps",
                NotConverged,
                stacklevel=2,
            )
        return released

    def _release_with_diagnostics(self, value, rng):
        """Return a release, its split R-hat (converged if below 1.01) and the number of sweeps."""
        released, diagnostics = self._drawn(value, rng, 1)
        return released[0], diagnostics

    def _drawn(self, value, rng, trials):
        gram = 0.5 * (value.astype(float) + value.T)
        eigenvalues, eigenvectors = np.linalg.eigh(gram)
        exponents = self._density_epsilon / (2 * self.query.record_bound**2) * eigenvalues[::-1]
        drawn, diagnostics = sample_bingham(exponents, self.settings["components"], rng, trials)
        components = eigenvectors[:, ::-1] @ drawn
        projectors = components @ components.swapaxes(1, 2)
        return projectors.astype(value.dtype, copy=False), diagnostics
