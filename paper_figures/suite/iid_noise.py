"""Why no independent noise of one law beats the Gaussian in high dimension.

`suite_kappa` computes kappa = Fisher information x variance of noise laws, and reads from the study
guarantee what Laplace noise needs in truth on the data set "grid".
"""

import math

import numpy as np
import pandas as pd
import scipy

from mechanisms.privacy import fisher
from mechanisms.privacy.gaussian_profile import mu_for
from paper_figures import pyplot as plt
from paper_figures.drawings import Drawn, drawing
from paper_figures.selections import ok_rows
from paper_figures.style import PAGE, look
from paper_figures.suite.headline import at_one_epsilon
from runs.results import Results

# Elements at which mu of a spread change is computed from the law itself.
ELEMENTS = 10_000
POWERS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0)
SHAPES = (6.0, 10.0, 30.0, 1000.0)
MEASURED = "laplace"
MIXTURE = "plrv-o"
# Laws whose names would touch that of the next one.
CROWDED = ("p = 6",)


@drawing("suite_kappa", kind="figures", needs=["guarantee/grid"])
def kappas(results: Results) -> Drawn:
    """Left: true mu over kappa, for noise of variance 1. Right: what Laplace noise needs over M."""
    grid, epsilon = at_one_epsilon(results.rows)
    delta = float(grid["delta"].iloc[0])
    laws = pd.DataFrame(_laws())
    needed = _needed(grid, epsilon, delta)
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 3.0))
    curve = np.linspace(1.0, laws["kappa"].max(), 100)
    left.plot(curve, np.sqrt(curve), color="black", linewidth=0.8, label="sqrt(kappa)")
    # The many laws of a family are drawn open, so that those of the other show through.
    for (family, own), (colour, marker) in zip(
        laws.groupby("family", sort=False),
        (("grey", "o"), (look(MIXTURE).colour, look(MIXTURE).marker)),
        strict=True,
    ):
        left.plot(
            own["kappa"], own["mu"], marker, color=colour, markerfacecolor="none", label=family
        )
    for row in laws.itertuples():
        # Exponents below 2 to the left of the curve, all others to the right of it.
        below = {"xytext": (2, -11) if row.label in CROWDED else (5, -6)}
        place = {"xytext": (-5, 3), "ha": "right"} if row.flat else below
        at = (row.kappa, row.mu)
        left.annotate(row.label, at, textcoords="offset points", fontsize=6, **place)
    left.plot(1, 1, look("gaussian").marker, color=look("gaussian").colour, label="Gaussian")
    # Room for the names of the first and the last law.
    left.set(xlim=(0.65, laws["kappa"].max() + 0.45))
    left.set(xlabel="kappa = Fisher information x variance", ylabel="true mu at variance 1, s = 1")
    left.set_title("Privacy loss at equal variance")
    left.legend(loc="lower right")
    if len(needed):
        right.semilogx(needed["size"], needed["kappa"], **look(MEASURED).line)
    right.axhline(fisher.LAPLACE, color="black", linewidth=0.8, linestyle=":", label="kappa = 2")
    right.axhline(1, color="black", linewidth=0.8)
    right.set(xlabel="number of elements M", ylabel="variance over the analytic Gaussian's")
    right.set_title("What Laplace noise needs")
    right.legend()
    caption = (
        "Why nothing i.i.d. beats the Gaussian in high dimension. Left: mu of a change of norm 1 "
        f"spread over {ELEMENTS:,} elements under i.i.d. noise of variance 1, from its divergence, "
        "over kappa. Right: variance of Laplace noise over the analytic Gaussian's at equal true "
        f"privacy ({epsilon:g}, {delta:g}), by exact profiles. Without data."
    )
    data = pd.concat(
        [
            laws.drop(columns="flat").assign(panel="laws"),
            needed.assign(
                panel="needed", family=look(MEASURED).title, epsilon=epsilon, delta=delta
            ),
        ]
    )
    return Drawn(caption, data, figure, NOTE)


NOTE = (
    "I.i.d. noise, with variance v and Fisher information I, is added to each of M elements. A "
    "change of l2 norm s that is spread over all elements moves each by s / sqrt(M). Its privacy "
    "loss is a sum of M small losses, each of variance I s^2 / M: it tends to the loss of Gaussian "
    "noise with mu = s sqrt(I), whatever the distribution. Gaussian noise of variance v has mu = s "
    "/ sqrt(v). Hence the noise reveals as much as a Gaussian with 1 / kappa of its variance, and "
    "by the inequality of Cramer and Rao kappa = I v >= 1, with equality for the Gaussian alone. "
    "To be as private, any other distribution needs at least kappa times the variance: another "
    "change may be even worse. In low dimension the argument fails, and other noise is ahead "
    "(suite_cost). What beats the Gaussian uses more about the query than an l2 ball "
    "(suite_better)."
)


def _laws():
    """Family, label, kappa, and mu at variance 1 of every law."""
    for power in POWERS:
        # Of the density exp(-|x|^power).
        variance = math.exp(scipy.special.gammaln(3 / power) - scipy.special.gammaln(1 / power))
        mu = fisher.spread_mu(
            lambda x, power=power: -(abs(x) ** power), ELEMENTS, math.sqrt(variance)
        )
        yield {
            "family": "generalised Gaussian, exp(-|x|^p)",
            "label": f"p = {power:g}",
            "flat": power < 2,
            "kappa": fisher.kappa_of_power(power),
            "mu": mu,
        }
    for shape in SHAPES:
        std = fisher.gamma_mixture_std(shape, 1.0)
        mu = fisher.spread_mu(
            lambda x, shape=shape: -(shape + 1) * math.log1p(abs(x)), ELEMENTS, std
        )
        yield {
            "family": "Laplace with Gamma rate (PLRV-O)",
            "label": f"k = {shape:g}",
            "flat": False,
            "kappa": fisher.kappa_of_gamma_mixture(shape),
            "mu": mu,
        }


def _needed(grid: pd.DataFrame, epsilon: float, delta: float) -> pd.DataFrame:
    """Variance of Laplace noise over the Gaussian's at equal true privacy, by size."""
    loss = ok_rows(grid, "guarantee", "expected_loss")
    own = loss[(loss["mechanism"] == MEASURED) & (loss["calibration"] == "exact")]
    gaussian = own["size"] / float(mu_for(epsilon, delta)) ** 2
    table = pd.DataFrame({"size": own["size"], "kappa": own["value"] / gaussian})
    return table.sort_values("size", kind="stable")
