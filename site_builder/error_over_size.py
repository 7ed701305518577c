"""Every mechanism's noise by the number of elements, from the study guarantee."""

import numpy as np
import pandas as pd

from claims.judged_rows import ok_rows
from paper_figures.selections import size_of
from site_builder.run_folder import RunFolder


def noise_by_size(run: RunFolder) -> pd.DataFrame | None:
    """Return the study's rows on its grid at the epsilon nearest to 1; None if there are none.

    `size` is the number of elements, `value` is E||noise||^2, and `noise` is the root mean square
    per element.
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
