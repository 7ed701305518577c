"""Which extra of the package brings what cannot be imported."""

# By the name that is imported. Where several extras have a package, the smallest of them.
EXTRAS = {
    "pandas": "compare",
    "matplotlib": "compare",
    "dp_accounting": "accounting",
    "sklearn": "audit",
    "yaml": "plans",
    "cvxpy": "oracle",
    "clarabel": "oracle",
    "torch": "learning",
    "opacus": "learning",
}


def needed(error: ImportError) -> str:
    """What to install after an import that failed: "needs the package yaml: pip install ..."."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    name = f"matrix-noise-bench[{extra}]" if extra else package
    return f"needs the package {package}: pip install '{name}'"
