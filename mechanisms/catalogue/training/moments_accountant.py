"""Gaussian noise calibrated by the accountant of DP-SGD."""

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.query.option import positive_integer, probability
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_delta


class MomentsAccountant(AdditiveMechanism):
    """The least sigma at which Renyi DP proves the budget for `steps` releases on Poisson samples.

    This is the moments accountant of Abadi et al. 2016 in its later form, the Renyi accountant of
    dp_accounting with its default orders. The claim covers all releases together, under addition or
    removal of one record. The default is one release on all records.
    """

    key = "moments-accountant"
    title = "Moments accountant"
    paper = "Abadi et al. 2016"
    theorem = "Theorem 2, by Renyi DP (Mironov et al. 2019)"
    guarantee = "approximate"
    look = ("#AA4466", "v", 12)
    options = {
        "rate": probability("q, the rate at which every release samples the records"),
        "steps": positive_integer("T, the releases that share the budget"),
    }

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, rate, steps):
        # dp_accounting takes a second to load.
        from mechanisms.privacy.sampling.poisson_sampling import noise_multiplier

        require_delta(budget)
        try:
            multiplier = noise_multiplier(budget.epsilon, budget.delta, rate, steps)
        except ValueError as reason:
            raise Unsupported(f"cannot meet this budget: {reason}") from None
        return IndependentGaussian(shape=query.shape, sigma=multiplier * query.l2_sensitivity)

    def profile_of_release(self):
        return self.noise.profile(self.query)

    def profile(self):
        """Return the profile of all releases together, or bounds on it if they are on samples.

        The result is None for samples under any adjacency but add-remove: the claim does not cover
        them.
        """
        rate, steps = self.settings["rate"], self.settings["steps"]
        if rate == 1:
            return self.noise.profile(self.query).compose(steps)
        if self.query.adjacency != "add-remove":
            return None
        from mechanisms.privacy.sampling.sampled_profile import sampled

        return sampled(self.noise.profile(self.query), rate, steps)
