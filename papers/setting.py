"""A query and a budget at which a paper uses its mechanism."""

from dataclasses import dataclass

from mechanisms import Budget, Query


@dataclass(frozen=True, kw_only=True)
class PaperSetting:
    """A query and a budget of a paper; comments say what is used if the paper omits something.

    Args:
        name: A name such as "<paper>-<study>".
        where: The place in the paper.
        query, budget: The query and the budget.
    """

    name: str
    where: str
    query: Query
    budget: Budget
