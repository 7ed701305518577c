"""The noise alone, without data: expected loss, moments, tails and seconds per draw.

Three families of queries take the place of data sets:

fixed-sensitivity
    The l2 sensitivity is 1 at every size M (r1smg2024 Figure 9, Theorems 8 and 9). Every element
    lies in [0, 1/sqrt(M)], so that the assumptions of all mechanisms hold at once: the element
    range is 1/sqrt(M), the Frobenius bound 1, and the l1 sensitivity sqrt(M).
growing-sensitivity
    All elements lie in [-1, 1] and may change: the l2 sensitivity is 2 sqrt(M) (mgm2021 eq. 31) and
    the Frobenius bound sqrt(M). mgm2021 Table 4 states how the expected error grows with m and n.
gradient-shapes
    The same query at the gradient shapes of mgm2021 Table 2 serves to time the draws (Table 5). The
    paper computes MVG's directions by an SVD in every run. A mechanism with an option `directions`
    is therefore timed a second time with that SVD, at the published calibration and the shapes in
    `svd_shapes`.

Adjacency is local: any answer in the range may become any other.
"""

import functools
import math
import time
from collections.abc import Callable, Iterator

import numpy as np
from pydantic import Field

from mechanisms import (
    AdditiveMechanism,
    Query,
    Unsupported,
)
from mechanisms.query.box_query import box_query
from studies.base import (
    Case,
    Coordinate,
    Count,
    Delta,
    Disallowed,
    Distinct,
    Epsilon,
    EpsilonGrid,
    Metric,
    Point,
    ReleaseSettings,
    Shape,
    Study,
    Value,
)
from studies.base.agreement import FEWEST, require_mean

FACTOR = Coordinate("factor", float, "k in P(L > k E L)")
QUANTILE = Coordinate("quantile", float, "probability of a quantile of L, in [0, 1]")
TAIL_FACTORS = (2.0, 5.0, 10.0)
QUANTILES = (0.05, 0.5, 0.95, 0.99)


class Settings(EpsilonGrid, ReleaseSettings):
    """Settings of this study."""

    sizes: Distinct[Shape] = Field(description="shapes of fixed-sensitivity")
    growth_shapes: Distinct[Shape] = Field(description="shapes of growing-sensitivity")
    growth_epsilon: Epsilon = Field(
        description="epsilon of growing-sensitivity and gradient-shapes"
    )
    growth_delta: Delta = Field(description="their delta")
    gradient_shapes: Distinct[Shape] = Field(description="shapes of gradient-shapes")
    trials: Count = Field(1000, ge=2, description="draws per grid point, at most")
    largest_draw: Count = Field(20_000_000, description="numbers drawn per grid point, at most")
    svd_shapes: list[Shape] = Field(
        [], description="those of gradient_shapes where directions by an SVD are timed too"
    )
    timed_draws: Count = Field(10, description="timed draws per shape")

    def check_run(self) -> None:
        """Raise Disallowed for an SVD at a shape that is not timed."""
        super().check_run()
        timed = self.gradient_shapes if "gradient-shapes" in self.datasets else []
        for shape in self.svd_shapes:
            if shape not in timed:
                allowed = "among gradient_shapes, with the data set gradient-shapes"
                raise Disallowed("svd_shapes", allowed, "x".join(map(str, shape)))


class NoiseOnly(Study):
    """The study of this module."""

    name = "noise_only"
    paper = "r1smg2024"
    datasets = {
        "fixed-sensitivity": "none",
        "growing-sensitivity": "none",
        "gradient-shapes": "none",
    }
    # This study looks at nothing but the noise.
    needs = AdditiveMechanism
    coordinates = (FACTOR, QUANTILE)
    Settings = Settings
    metrics = (
        Metric("expected_loss", "E L = E||noise||^2 in closed form"),
        Metric("raw_kurtosis", "E[L^4] / E[L^2]^2, about zero"),
        Metric("raw_skewness", "E[L^3] / E[L^2]^1.5, about zero"),
        Metric("central_kurtosis", "kurtosis of L about its mean, 3 for a Gaussian"),
        Metric("central_skewness", "skewness of L about its mean"),
        Metric("tail_exact", "P(L > factor E L) in closed form"),
        Metric("tail_sampled", "share of draws with L > factor E L"),
        Metric("sampled_loss", "mean of L over the draws"),
        Metric("sampled_loss_error", "standard error of that mean"),
        Metric("sampled_quantile", "quantile of L over the draws"),
        Metric("sampled_trials", "draws"),
        Metric("calibrate_seconds", "wall-clock seconds to calibrate"),
        Metric("draw_seconds", "wall-clock seconds of one draw, directions given"),
        Metric(
            "svd_draw_seconds", "wall-clock seconds of one draw, directions by an SVD of the answer"
        ),
    )

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """Return the grid of one family of queries."""
        if dataset == "fixed-sensitivity":
            return settings.points_over(settings.sizes, variant, dataset)
        growing = dataset == "growing-sensitivity"
        shapes = settings.growth_shapes if growing else settings.gradient_shapes
        return [
            Point(
                shape=shape,
                epsilon=settings.growth_epsilon,
                delta=settings.growth_delta,
            )
            for shape in shapes
        ]

    def measure(self, problem: None, case: Case, point: Point) -> Iterator[Value]:
        """Yield the expected loss, and more for two of the families.

        fixed-sensitivity adds exact and sampled moments and tails of the loss; gradient-shapes adds
        seconds per draw.
        """
        dataset, settings = case.dataset, case.settings
        query = family_query(dataset, point.shape)
        mechanism, seconds = case.timed_calibration(query, point.budget)
        yield Value("calibrate_seconds", seconds, timing=True)
        if not isinstance(mechanism, AdditiveMechanism):
            raise Unsupported("adds no noise, so there is nothing to measure without data")
        yield Value("expected_loss", mechanism.expected_loss())
        if dataset == "gradient-shapes":
            rng = np.random.default_rng(case.seed(point, "timed"))
            draw = functools.partial(mechanism.sample, rng, 1)
            draws = draws_within(settings.timed_draws, settings, query.size)
            yield from seconds_of_draws(draw, "draw_seconds", draws)
            chosen = point.shape in settings.svd_shapes
            published = case.calibration == "published"
            if chosen and published and "directions" in case.mechanism.options:
                draw = draw_with_svd(query, case, point)
                yield from seconds_of_draws(draw, "svd_draw_seconds", draws)
        elif dataset == "fixed-sensitivity":
            yield from exact_moments(mechanism)
            yield from sampled_moments(mechanism, settings, case.seed(point, "loss"))


def family_query(family: str, shape: tuple[int, ...]) -> Query:
    """Return the query of a family, one of the study's `datasets`, at one shape."""
    if family == "fixed-sensitivity":
        return box_query(shape, 0.0, 1 / math.sqrt(math.prod(shape)))
    return box_query(shape, -1.0, 1.0)


def exact_moments(mechanism: AdditiveMechanism) -> Iterator[Value]:
    """Yield moments of the loss, and its tails if they are known; yield nothing without noise."""
    loss = mechanism.loss()
    if loss.mean == 0:
        return
    for metric in ("raw_kurtosis", "raw_skewness", "central_kurtosis", "central_skewness"):
        # Noise with heavy tails has infinite moments.
        if math.isfinite(getattr(loss, metric)):
            yield Value(metric, getattr(loss, metric))
    tails = mechanism.noise.squared_norm_survival(np.array(TAIL_FACTORS) * loss.mean)
    if tails is not None:
        for factor, tail in zip(TAIL_FACTORS, tails, strict=True):
            yield Value("tail_exact", tail, at={"factor": factor})


def sampled_moments(mechanism: AdditiveMechanism, settings: Settings, seed: int) -> Iterator[Value]:
    """Yield the mean, the quantiles and the tails of the loss over draws."""
    size = mechanism.query.size
    trials = draws_within(settings.trials, settings, size)
    losses = mechanism.noise.squared_norms(np.random.default_rng(seed), trials)
    mean, error = losses.mean(), losses.std(ddof=1) / math.sqrt(trials)
    if trials >= FEWEST:
        require_mean(mean, error, trials, mechanism.expected_loss(), "expected_loss")
    yield Value("sampled_trials", trials)
    yield Value("sampled_loss", mean, seed=seed)
    yield Value("sampled_loss_error", error, seed=seed)
    for quantile in QUANTILES:
        yield Value(
            "sampled_quantile", np.quantile(losses, quantile), at={"quantile": quantile}, seed=seed
        )
    for factor in TAIL_FACTORS:
        tail = np.mean(losses > factor * mechanism.expected_loss())
        yield Value("tail_sampled", tail, at={"factor": factor}, seed=seed)


def draws_within(wanted: int, settings: Settings, size: int) -> int:
    """Limit the number of draws to `largest_draw` / `size`, but to no fewer than 2."""
    return min(wanted, max(2, settings.largest_draw // size))


def seconds_of_draws(draw: Callable[[], object], metric: str, draws: int) -> Iterator[Value]:
    """Yield the wall-clock seconds of single draws, after an untimed one that warms up."""
    draw()
    for trial in range(draws):
        clock = time.perf_counter()
        draw()
        yield Value(metric, time.perf_counter() - clock, trial, timing=True)


def draw_with_svd(query: Query, case: Case, point: Point) -> Callable[[], np.ndarray]:
    """Return a draw that first computes an answer's SVD and calibrates to its left vectors."""
    rng = np.random.default_rng(case.seed(point, "svd"))
    answer = rng.uniform(*query.element_range, query.shape)

    def draw() -> np.ndarray:
        directions, *_ = np.linalg.svd(answer)
        options = case.variant.options | {"directions": directions}
        made = case.mechanism.calibrate_only(query, point.budget, "published", **options)
        return made.sample(rng, 1)

    return draw
