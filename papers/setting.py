"""One query and budget at which a paper uses its mechanism."""

from dataclasses import dataclass

from mechanisms import Budget, Query


@dataclass(frozen=True, kw_only=True)
class PaperSetting:
    """One query and budget of a paper; comments say how its omissions are filled.

    Args:
        name: "<paper>-<study>".
        where: Place in the paper.
        query, budget: The paper's.
    """

    name: str
    where: str
    query: Query
    budget: Budget
