"""One query and budget at which a paper uses its mechanism."""

from dataclasses import dataclass

from mechanisms import Budget, Query


@dataclass(frozen=True, kw_only=True)
class PaperSetting:
    """One query and budget of a paper.

    Args:
        name: "<paper>-<study>".
        where: Place in the paper.
        query, budget: The paper's, filled by `choice`.
        choice: The paper's omissions and how they are filled here; empty where there are none.
    """

    name: str
    where: str
    query: Query
    budget: Budget
    choice: str = ""
