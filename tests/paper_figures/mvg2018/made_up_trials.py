"""Made-up trials of mvg2018's studies around chosen means, at the paper's data and budget."""

import numpy as np

from paper_figures.mvg2018.compared_study import STUDIES

TRIALS = 20


def rows_of(study, means, *, metric=None, kernel=None):
    """Rows around the mean of each "mechanism", "mechanism treatment" or "... share"."""
    rng = np.random.default_rng(1)
    setting = STUDIES[study].setting
    rows = []
    for name, mean in means.items():
        mechanism, treatment, share = (*name.split(), None, None)[:3]
        values = mean * (1 + 0.01 * rng.standard_normal(TRIALS))
        rows += [
            {
                "paper": "mvg2018",
                "study": study,
                "dataset": "made-up",
                "data_source": "official",
                "mechanism": mechanism,
                "calibration": "published",
                "shape": "x".join(map(str, setting.query.shape)),
                "epsilon": 1.0,
                "delta": setting.budget.delta,
                "treatment": treatment,
                "share": float(share) if share else np.nan,
                "kernel": kernel,
                "metric": metric or STUDIES[study].score,
                "trial": trial,
                "value": value,
            }
            for trial, value in enumerate(values)
        ]
    return rows
