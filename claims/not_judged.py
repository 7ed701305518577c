"""The rule for a claim that no numbers of this suite decide; it says what is missing."""

from claims.judges import judge
from claims.verdicts import Finding, not_run


@judge
def needs_a_run(*, missing: str) -> Finding:
    """Return the finding that a claim was not run; `missing` is a sentence that says why.

    With this rule, a claim that no run, closed form or file decides still appears in the ledger.
    """
    return not_run(missing)
