"""How far a release is from an answer without data: a bound that needs no run.

Noise around one fixed value, such as zero, is an answer that anybody can give. Where every release
is within total variation t of it, no reader tells the two apart with an advantage above t: a score
in [0, 1] of anything computed from the release differs from that of noise alone by at most t. This
is about one release: of k releases, such as of k records, the distance is up to k t.
"""

import math
from dataclasses import replace

from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import check_positive
from mechanisms.query.query import Query, Unsupported


def distance_to_no_data(mechanism: Mechanism) -> float:
    """Upper bound on the total variation between any release and the noise around a fixed value.

    TV(x + Z, c + Z) is delta(0) of the pair (x, c), so that of the worst pair at the largest
    distance which the query's range allows from its centre c: the middle of `element_range`, or
    zero where `frobenius_bound` alone bounds the answers. In [0, 1].

    Args:
        mechanism: Additive, with a known profile.

    Raises:
        Unsupported: The mechanism does more than add noise, the profile of its noise is not known
            for all changes, or the query states no bound on its values, or one out of range.
    """
    if not isinstance(mechanism, AdditiveMechanism) or not mechanism.only_adds_noise:
        raise Unsupported("the distance to no data needs a mechanism that only adds noise")
    changes = changes_from_centre(mechanism.query)
    # One-sided noise (Wishart) is made for the changes of a Gram matrix alone.
    profile = mechanism.noise.profile(changes) if mechanism.noise.symmetric else None
    if profile is None:
        raise Unsupported("the distance to no data needs noise whose profile is known")
    return float(profile.delta(0.0).upper)


def changes_from_centre(query: Query) -> Query:
    """The query whose changes are all differences of a value of this query from one fixed value.

    Raises:
        Unsupported: The query states neither `element_range` nor `frobenius_bound`, or these allow
            changes that no query may have.
    """
    half, radius = None, query.frobenius_bound or math.inf
    if query.element_range is not None:
        low, high = query.element_range
        half = (high - low) / 2
        box = half * math.sqrt(query.size)
        # The Frobenius bound is about zero, which is not always the centre of the box.
        radius = min(radius, box) if low == -high else box
    if radius == math.inf:
        raise Unsupported(
            "the distance to no data needs element_range or frobenius_bound: without a bound on "
            "the answers every noise is small beside some answer"
        )
    try:
        return replace(
            query,
            l2_sensitivity=radius,
            l1_sensitivity=math.sqrt(query.size) * radius,
            linf_sensitivity=min(half, radius) if half is not None else radius,
            element_range=None,
            frobenius_bound=None,
            adjacency="add-remove",
            structure=None,
            record_bound=None,
        )
    except ValueError as error:
        raise Unsupported(f"the distance to no data needs other bounds: {error}") from None


def distance_at_precision(radius: float, precision: float) -> float:
    """The same for all matrix Gaussian noise whose inverse covariances are bounded together.

    The squared Mahalanobis distance of X from zero, tr(Psi^-1 X^T Sigma^-1 X), is at most
    ||X||_F^2 times the product of the largest eigenvalues of Sigma^-1 and Psi^-1.

    Args:
        radius: sup ||X||_F, > 0.
        precision: An upper bound on that product, > 0.
    """
    check_positive("radius", radius)
    check_positive("precision", precision)
    return float(GaussianProfile(mu=radius * math.sqrt(precision)).delta(0.0).upper)
