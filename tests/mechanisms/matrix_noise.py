"""The additive mechanisms that a matrix without a structure suits."""

from mechanisms import AdditiveMechanism, all_mechanisms

# Their own tests hold those for other queries to the same.
_OTHERS = {
    "tests/mechanisms/catalogue/gram": {"analyze-gauss", "mod-sulq", "wishart"},
}
ADDITIVE = [
    key
    for key, cls in all_mechanisms().items()
    if issubclass(cls, AdditiveMechanism)
    and cls.guarantee != "none"
    and key not in set().union(*_OTHERS.values())
]
