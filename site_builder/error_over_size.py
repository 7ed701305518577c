"""The size of every mechanism's noise over the number of elements, from the study guarantee."""

import numpy as np
import pandas as pd

from claims.judged_rows import ok_rows
from paper_figures.selections import size_of
from site_builder.run_folder import RunFolder


def noise_by_size(run: RunFolder) -> pd.DataFrame | None:
    """Rows of the guarantee study on its grid, at the epsilon nearest to 1, with size and noise.

    `value` is E||noise||^2, `noise` its root mean square per element. None without such rows.
    """
    if "guarantee" not in run.rows:
        return None
    rows = ok_rows(run.rows["guarantee"], "guarantee", "expected_loss", "grid")
    if rows.empty:
        return None
    nearest = min(rows["epsilon"].unique(), key=lambda epsilon: abs(np.log(epsilon)))
    rows = rows[rows["epsilon"] == nearest]
    sizes = rows["shape"].map(size_of)
    return rows.assign(size=sizes, noise=(rows["value"] / sizes) ** 0.5)
