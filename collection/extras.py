"""Packages that Assize works without: what needs one says how it is installed."""

from __future__ import annotations

from importlib.util import find_spec

# The package that is imported, and the extra that brings it (pyproject.toml).
EXTRAS = {"altair": "charts", "vl_convert": "charts", "pyarrow": "parquet", "psycopg": "postgres", "redis": "redis"}


def missing(package: str) -> str:
    """Return that the package of an extra is not installed, and what to do; nothing where it is."""
    if find_spec(package):
        return ""
    return f"This needs {package}, which is not installed. Install it: pip install 'assize-site[{EXTRAS[package]}]'."


def missing_for(failure: BaseException) -> str:
    """Return the same of what failed because a package of an extra is not installed; else nothing."""
    package = (failure.name or "").split(".")[0] if isinstance(failure, ModuleNotFoundError) else ""
    return missing(package) if package in EXTRAS else ""
