"""Packages that take long to import: modules import them where they use them, so that commands go without."""

from __future__ import annotations

from importlib import import_module

# What the first pages and figures would wait for.
OF_MOST_PAGES = ("markdown_it", "nh3", "pandas")


def import_now() -> None:
    """Import them before anything is served. Raises ImportError where one is missing."""
    for package in OF_MOST_PAGES:
        import_module(package)
