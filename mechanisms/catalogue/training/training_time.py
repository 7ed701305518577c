"""Two baselines of tldp2025 for model parameters, LLAGP and DPHSGD, as that paper describes them.

The paper describes them in a few sentences (Sections 5.1.2 and 5.3); its only formula is for an
error, in Table 5. Its references [27] and [28] are not used here, and nothing here is a statement
about their methods. The docstrings say what was decided where the paper is silent. Both mechanisms
add Gaussian noise to the whole answer, by the analytic calibration, which holds at every epsilon.
The studies of type III have delta = 1e-5 and epsilons in the hundreds, for which the classic
calibration is not proved.
"""

import math
from dataclasses import replace

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.public_information import CLIPPING_SHARES, LAYER_SIZES
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.option import Option, is_count, shares
from mechanisms.query.query import Budget, Query, Unsupported


def layer_budgets(count: int, budget: Budget) -> list[Budget]:
    """Divide the budget among `count` layers, from the input on.

    The epsilons and deltas add up to the budget's. epsilon_l is proportional to count - l for
    l = 0, 1, ...: the paper says "more privacy budget" near the input and "less" near the output,
    without numbers. All layers have the same share of delta.
    """
    falling = np.arange(count, 0, -1, dtype=float)
    return [
        Budget.of_part(epsilon=float(epsilon), delta=budget.delta / count)
        for epsilon in budget.epsilon * falling / falling.sum()
    ]


def _are_sizes(value) -> bool:
    return value is None or (
        isinstance(value, (list, tuple)) and len(value) > 0 and all(map(is_count, value))
    )


class LLAGP(AdditiveMechanism):
    """Gaussian noise layer by layer; the deeper a layer, the smaller its share of the budget.

    A layer of I_l elements that change by at most w each has sigma_l = s_l / mu(epsilon_l, delta_l)
    with s_l = min(s, w sqrt(I_l)). (epsilon, delta) follows by basic composition over the layers.
    """

    key = "llagp"
    title = "LLAGP"
    paper = "tldp2025"
    theorem = "Section 5.3.3, basic composition over layers"
    guarantee = "approximate"
    look = ("#BB5566", "v", 32)
    options = {
        "layers": Option(
            None,
            "a list of integers >= 1, or null",
            _are_sizes,
            "number of elements of every layer, from the input on, of an answer of shape (1, M); "
            "null: the answer is one layer",
        ),
    }
    public_information = {"layers": LAYER_SIZES}

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, layers):
        sizes = [query.size] if layers is None else layers
        if layers is not None and query.shape != (1, sum(layers)):
            raise ValueError(
                f"option layers must add up to M for an answer of shape (1, M), got {sum(layers)} "
                f"for shape {query.shape}"
            )
        widest = query.linf_sensitivity or math.inf
        std = np.array(
            [
                min(query.l2_sensitivity, widest * np.sqrt(size)) / mu_for(b.epsilon, b.delta)
                for size, b in zip(sizes, layer_budgets(len(sizes), budget), strict=True)
            ]
        )
        if layers is None:
            return IndependentGaussian(shape=query.shape, sigma=float(std[0]))
        return MatrixGaussian(row_std=np.ones(1), column_std=np.repeat(std, sizes))


class DPHSGD(AdditiveMechanism):
    """Gaussian noise after clipping every element to a part of its range.

    Element i of an answer with elements in [a, b] is clipped to (a + b) / 2 -+ t_i (b - a) / 2, so
    it changes by at most t_i (b - a). The noise has sigma = s / mu(epsilon, delta), where s is at
    most the query's l2 sensitivity and (b - a) ||t||_2. The paper says "compared with the Gaussian
    mechanism, DPHSGD just adjusts the clipping threshold", but not how; only the title of its
    reference mentions a Hessian matrix. The guarantee holds for thresholds that do not depend on
    the private data, and for no others.
    """

    key = "dphsgd"
    title = "DPHSGD"
    paper = "tldp2025"
    theorem = "Section 5.3, clipping before Gaussian noise"
    guarantee = "approximate"
    look = ("#004488", "8", 33)
    options = {
        "thresholds": shares(
            "t, the share of its range that every element is clipped to, of the answer's shape; "
            "null is 1 everywhere; must not depend on the private data"
        )
    }
    public_information = {"thresholds": CLIPPING_SHARES}
    # The error of an element that is clipped depends on its value.
    only_adds_noise = False

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, thresholds):
        sensitivity = _clipped(query, thresholds).reach
        sigma = sensitivity / float(mu_for(budget.epsilon, budget.delta))
        return IndependentGaussian(shape=query.shape, sigma=sigma)

    @property
    def clipped_query(self) -> Query:
        """The query after clipping, which the noise protects."""
        return _clipped(self.query, self.settings["thresholds"])

    def prepared(self, value):
        if self.settings["thresholds"] is None:
            return value
        a, b = self.query.element_range
        half = (b - a) / 2 * np.asarray(self.settings["thresholds"], dtype=float)
        return np.clip(value, (a + b) / 2 - half, (a + b) / 2 + half).astype(value.dtype)

    def profile(self):
        return self.noise.profile(self.clipped_query)


def _clipped(query: Query, thresholds) -> Query:
    """Return the query after clipping.

    Raises:
        Unsupported: The query has no element_range. Or there are thresholds, and the query has a
            structure or an l1 sensitivity below the sum of the clipped ranges: then possibly no
            change attains the reach of the result.
        ValueError: The thresholds have another shape than the query, or are zero everywhere.
    """
    if query.element_range is None:
        raise Unsupported("needs element_range (a, b): it clips elements to a part of it")
    if thresholds is None:
        return query
    parts = np.asarray(thresholds, dtype=float)
    if parts.shape != query.shape or not parts.any():
        raise ValueError(
            f"option thresholds must have shape {query.shape} and be positive somewhere, got "
            f"shape {parts.shape}"
        )
    a, b = query.element_range
    widths = np.minimum((b - a) * parts, query.linf_sensitivity)
    l1 = query.l1_sensitivity or math.inf
    # The factor allows for the rounding of the sum.
    if query.structure is not None or l1 * (1 + 1e-9) < widths.sum():
        raise Unsupported(
            "needs a query whose elements may all change at once, where it has thresholds: leave "
            "out structure, record_bound and l1_sensitivity, or thresholds"
        )
    linf = float(widths.max())
    l2 = min(query.l2_sensitivity, float(np.linalg.norm(widths)), math.sqrt(query.size) * linf)
    # The widths imply the l1 sensitivity.
    return replace(query, l2_sensitivity=l2, l1_sensitivity=None, linf_sensitivity=min(linf, l2))
