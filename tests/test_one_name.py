"""One word all the way: whoever knows a page's address finds its folder, view and template by that word."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import get_resolver
from django.urls.resolvers import URLPattern, URLResolver

from collection.templatetags.breadcrumbs import PLACES

APPS = ("annotate", "collection", "evaluation", "judging")
# Addresses that travel in links are short on purpose. They are the crowd's.
SHORT = {"p", "m", "i", "back"}
ALIKE = 4  # letters that two forms of a word begin with: import and importing, family and families


class Address(NamedTuple):
    app: str
    name: str
    path: str
    pattern: URLPattern

    @property
    def function(self) -> Any:
        return inspect.unwrap(self.pattern.callback)

    @property
    def words(self) -> set[str]:
        first = self.path.split("/")[0]
        return words_of(f"{self.name}/{self.path}") | ({"crowd"} if first in SHORT else set())

    @property
    def view(self) -> str:
        return str(self.function.__name__)

    @property
    def room(self) -> str:
        """The module of its view within its app; of a report, the one that computes it."""
        if hasattr(self.function, "report"):
            return str(self.function.report.compute.partition(":")[0]).removeprefix(f"{self.app}.")
        return str(self.function.__module__).removeprefix(f"{self.app}.")

    @property
    def templates(self) -> list[str]:
        """The templates that its view names."""
        return re.findall(r'"([\w/]+)\.html"', inspect.getsource(self.function))


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - {"slug", "int", "str", "views"}


def addresses(patterns: Sequence[URLPattern | URLResolver], path: str = "", app: str = "") -> Iterator[Address]:
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from addresses(one.url_patterns, path + str(one.pattern), one.namespace or app)
        elif one.name and app in APPS:
            yield Address(app, one.name, path + str(one.pattern), one)


def alike(one: set[str], other: set[str]) -> bool:
    """Whether a word stands in both, in whatever form."""
    return any(a[: min(ALIKE, len(b))] == b[: min(ALIKE, len(a))] for a, b in product(one, other))


def misnamed(address: Address) -> list[str]:
    """Say what of an address is not found by its word."""
    found = []
    if not alike({address.name.split("_")[0]}, {address.view.split("_")[0]}) and address.name != address.view:
        found.append(f"its view is {address.view}")
    if not alike(address.words, words_of(address.room)):
        found.append(f"its view stands in {address.app}.{address.room}")
    if address.templates and not any(alike(words_of(address.name), words_of(name)) for name in address.templates):
        found.append(f"its templates are {address.templates}")
    return found


ADDRESSES = list(addresses(get_resolver().url_patterns))


def test_addresses_lead_to_their_folders_views_and_templates() -> None:
    assert {f"{one.app}:{one.name}": found for one in ADDRESSES if (found := misnamed(one))} == {}


def test_finds_what_is_named_otherwise() -> None:
    split = next(one for one in ADDRESSES if one.name == "split")

    assert misnamed(split._replace(name="standings", path="studies/<slug:name>/standings/")) == [
        "its view is split",
        "its view stands in evaluation.splits.views",
        "its templates are ['evaluation/split']",
    ]


def test_every_feature_with_a_stylesheet_of_its_own_calls_it_by_its_name() -> None:
    root = Path(settings.BASE_DIR)
    shared = {"base", "components", "site", "tokens", "tour"}
    rooms = words_of(" ".join(f"{one.app} {one.room} {one.name}" for one in ADDRESSES)) | {"styleguide"}
    others = [
        sheet.name
        for sheet in (root / "static/css").glob("*.css")
        if sheet.stem not in shared and not alike(words_of(sheet.stem), rooms)
    ]

    assert others == []


def test_places_of_breadcrumbs_are_addresses_under_one_another() -> None:
    names = {f"{one.app}:{one.name}" for one in ADDRESSES}

    assert PLACES.keys() <= names
    assert {place.above for place in PLACES.values()} - {""} <= PLACES.keys()
