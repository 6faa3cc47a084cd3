"""The addresses of a chart: its files, of which a page asks for the first to show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.urls import URLPattern, path

SUFFIXES = {"svg": "svg", "pdf": "pdf", "json": "vl.json"}


def chart_paths(stem: str, view: Callable[..., HttpResponse], name: str, **given: Any) -> list[URLPattern]:
    """Return the addresses `stem.svg`, `stem.pdf`, `stem.vl.json`, called `name_svg`, `name_pdf`, `name_json`.

    The view is given `form`: which of the three.
    """
    return [
        path(f"{stem}.{suffix}", view, {"form": form, **given}, name=f"{name}_{form}")
        for form, suffix in SUFFIXES.items()
    ]
