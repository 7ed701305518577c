"""Which extra of the package brings what cannot be imported."""

# By the name that is imported. Where several extras have a package, the smallest of them.
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
