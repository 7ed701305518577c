"""Tabulate the epsilon at which a mechanism reaches a number that its paper states.

The table `suite_implied_epsilon` has a row for every number that depends on one mechanism's budget
and that the suite can compute at other budgets: by a closed form of the noise, or by a study that
runs several budgets. The home of a paper declares its numbers with
`claims.implied_epsilon.implies`.
"""

import pandas as pd

from claims.implied_epsilon import stated_numbers
from claims.judged_rows import required
from claims.verdicts import CALIBRATION_TITLES
from paper_figures.drawings import DrawingError, Drawn, drawing
from runs.results import Results

NEEDS = ["private_data", "private_features", "private_parameters", "dpsgd"]


@drawing("suite_implied_epsilon", kind="tables", needs=NEEDS)
def implied_epsilons(results: Results) -> Drawn:
    """Tabulate the stated and the implied epsilons, one row per stated number and mechanism."""
    required(
        results.rows, DrawingError("the results hold no rows of the studies with stated numbers")
    )
    records = [
        {
            "paper": paper,
            "where": stated.where,
            "mechanism": stated.mechanism,
            "stated number": stated.number,
            "stated epsilon": stated.epsilon,
            **{
                words: str(stated.implied.get(calibration, ""))
                for calibration, words in CALIBRATION_TITLES.items()
            },
            "from": stated.source,
        }
        for paper, stated in stated_numbers(results.rows)
    ]
    return Drawn(
        caption=(
            "Implied epsilon: the budget at which a mechanism reaches the number that its paper "
            "states for it, as published and at equal true privacy, beside the epsilon that the "
            "paper states. Closed forms are exact. Measured scores are means over trials, on a "
            "line in log(epsilon) between the budgets of the run; in brackets, where the 95% "
            "interval of the score reaches the number."
        ),
        data=pd.DataFrame(records),
        note=(
            'A larger epsilon means less noise. "Not reached up to" names the largest budget of '
            'the run, "at most" its smallest. The networks and sizes are those of this run, most '
            "of them smaller than the papers' (suite_panels), so that a score may be out of their "
            "reach. On the map, MVG has the smallest possible gamma, s/2. Table 5 has no second "
            "number: tldp2025_fig1 shows the effect of noise with the true privacy of a whole "
            "image. The table leaves out the counts of r1smg2024 Figure 4, which need the paper's "
            "map, and MVG's error in mvg2018's regression, 0.0163, because predicting zero has "
            "0.0162, without any data (mvg2018_table3)."
        ),
    )
