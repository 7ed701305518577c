"""Bounds how far a release is from an answer without data, without a run.

Noise around one fixed value, such as zero, is an answer that anybody can give. If the total
variation between it and every release is at most t, nobody can tell the two apart with an advantage
above t: any score in [0, 1] of what is computed from the release differs by at most t from that of
noise alone. For k releases, such as one for each of k records, the distance is up to k t.
"""

import math

from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import check_positive
from mechanisms.query.query import Query, Unsupported


def distance_to_no_data(mechanism: Mechanism) -> float:
    """Return an upper bound on the total variation between any release and noise around a value.

    The total variation of x + Z and c + Z is delta(0) of this pair. The bound, in [0, 1], is
    delta(0) of the worst pair at the largest distance that the query's range allows from its
    centre c: the middle of `element_range`, or zero if only `frobenius_bound` is stated.

    Args:
        mechanism: An additive mechanism with a known profile.

    Raises:
        Unsupported: The mechanism does more than add noise, the profile of its noise is not known
            for all changes, or the query states no bound on its values, or one out of range.
    """
    if not isinstance(mechanism, AdditiveMechanism) or not mechanism.only_adds_noise:
        raise Unsupported("the distance to no data needs a mechanism that only adds noise")
    changes = changes_from_centre(mechanism.query)
    # The profile of one-sided noise (Wishart) is only for the changes of a Gram matrix.
    profile = mechanism.noise.profile(changes) if mechanism.noise.symmetric else None
    if profile is None:
        raise Unsupported("the distance to no data needs noise whose profile is known")
    return float(profile.delta(0.0).upper)


def changes_from_centre(query: Query) -> Query:
    """Return a query whose changes are the differences of this query's values from its centre.

    Raises:
        Unsupported: The query states neither `element_range` nor `frobenius_bound`, or these allow
            changes that no query may have.
    """
    half, radius = math.inf, query.frobenius_bound or math.inf
    if query.element_range is not None:
        low, high = query.element_range
        half = (high - low) / 2
        box = half * math.sqrt(query.size)
        # The Frobenius bound is about zero, which may not be the centre of the box.
        radius = min(radius, box) if low == -high else box
    if radius == math.inf:
        raise Unsupported(
            "the distance to no data needs element_range or frobenius_bound: without a bound on "
            "the answers every noise is small beside some answer"
        )
    try:
        return Query(
            shape=query.shape,
            l2_sensitivity=radius,
            l1_sensitivity=math.sqrt(query.size) * radius,
            linf_sensitivity=min(half, radius),
        )
    except ValueError as error:
        raise Unsupported(f"the distance to no data needs other bounds: {error}") from None


def distance_at_precision(radius: float, precision: float) -> float:
    """Bound the distance to no data for matrix Gaussian noise with bounded inverse covariances.

    Sigma is the covariance of the rows and Psi of the columns. The squared Mahalanobis distance of
    an answer X from zero, tr(Psi^-1 X^T Sigma^-1 X), is at most ||X||_F^2 times the product of the
    largest eigenvalues of Sigma^-1 and Psi^-1.

    Args:
        radius: The largest ||X||_F of an answer, > 0.
        precision: An upper bound on that product, > 0.
    """
    check_positive("radius", radius)
    check_positive("precision", precision)
    return float(GaussianProfile(mu=radius * math.sqrt(precision)).delta(0.0).upper)
