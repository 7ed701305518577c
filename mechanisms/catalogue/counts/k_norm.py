"""The K-norm mechanism for counts and for boxes: pure privacy in the shape of the changes."""

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.k_norm_noise import CountNorm, CubeNorm
from mechanisms.query.query import Budget, Query, Unsupported

# The moments of the noise for counts take time proportional to the size.
LARGEST_COUNTS = 4096


class KNormMechanism(AdditiveMechanism):
    """Density proportional to exp(-epsilon ||x||_K / w), K the hull of the changes over w.

    - counts, any number of which may change: K = conv([0, 1]^M, [-1, 0]^M), a case of the optimal
      noise for counts; its sampler here is of this suite;
    - an answer whose elements may all move by w = linf_sensitivity: K = [-1, 1]^M, the noise of
      Steinke and Ullman for the l-infinity ball.

    Fewer counts at a time (Joseph and Yu's sampler for k of them) are not implemented.
    """

    key = "k-norm"
    title = "K-norm"
    paper = "Hardt and Talwar 2010"
    theorem = "K-norm mechanism; arXiv:2309.15790 for counts"
    guarantee = "pure"
    look = ("#B8860B", "8", 44)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        if query.linf_sensitivity is None:
            raise Unsupported("needs linf_sensitivity, the largest change of one element")
        if query.structure not in (None, "counts"):
            raise Unsupported(f"is not defined for structure {query.structure!r}")
        body = CubeNorm
        if query.structure == "counts":
            if query.most_counts < query.size:
                raise Unsupported(
                    f"supports counts all of which may change, and here {query.most_counts} of "
                    f"{query.size} do"
                )
            if query.size > LARGEST_COUNTS:
                raise Unsupported(f"supports at most {LARGEST_COUNTS} counts, got {query.size}")
            body = CountNorm
        width = query.linf_sensitivity
        return body(shape=query.shape, scale=width / budget.epsilon, width=width)
