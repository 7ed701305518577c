"""The extra of the package that brings what cannot be imported."""

# By imported name, the smallest extra that has the package.
EXTRAS = {
    "pandas": "compare",
    "dp_accounting": "accounting",
    "cvxpy": "oracle",
    "clarabel": "oracle",
}


def needed(error: ImportError) -> str:
    """Say what to install after an import that failed."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return f"cannot import what it needs: {error}"
    return f"needs the package {package}: in a clone, pip install '.[{EXTRAS[package]}]'"
