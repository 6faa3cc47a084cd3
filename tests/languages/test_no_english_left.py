"""Nothing that an assessor reads in another language is left in English: pages, choices, refusals, what is not there.

Every address is asked twice, in English and in German. What reads the same in both is English that nobody marked for
translation, unless it stands in the database (then it is the study's own) or in the German catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core import serializers
from django.test import Client
from django.utils.timezone import now

from annotate.models import AttentionCheck, SurveyQuestion
from annotate.quality.consent import revise_consent
from collection.models import Study, User
from config.translations import read
from tests.attacks.world import World, a_world, addresses, path_of

# What is read aloud or shown of an attribute; what stands in these elements is nobody's sentence.
ATTRIBUTES = ("aria-label", "title", "placeholder", "alt")
SILENT = {"kbd", "code", "script", "style", "textarea"}
# What is read is the study's, in pieces.
READING = re.compile(r'<(\w+) [^>]*class="[^"]*\b(?:reading|verbatim)\b.*?</\1>', re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2}")
# Researchers' pages that are open to everybody, and what programs read.
OTHERS = ("/styleguide/", "/api/", "/robots.txt")
# The product and others', and each language in itself.
NAMES = {
    "Assize",
    f"Assize {settings.VERSION}",
    "API",
    "Prolific",
    "Mechanical Turk",
    *dict(settings.LANGUAGES).values(),
}


class Words(HTMLParser):
    """Every piece of text of a page, and every attribute that is read."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.found: set[str] = set()
        self.feed(READING.sub("", html))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self.inside.append(tag)
        self.found |= {" ".join(value.split()) for name, value in attrs if name in ATTRIBUTES and value}

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            parts = (re.sub(r"^\d+\. ", "", part.strip()) for part in data.split(" · "))
            self.found |= {" ".join(part.split()) for part in parts}


def stored() -> Iterator[str]:
    """Yield every string of the database."""

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield " ".join(value.split())
        elif isinstance(value, dict | list | tuple):
            for part in value.values() if isinstance(value, dict) else value:
                yield from strings(part)

    for model in apps.get_models():
        for row in serializers.serialize("python", model._default_manager.all()):
            yield from strings(row["fields"])


def alike(user: User, paths: list[str]) -> dict[str, set[str]]:
    """Return by address what of its page reads the same in English and in German and is not a word of the study."""
    german = {message.string for message in read("de", "django") if message.string == message.id}
    own = {*stored(), *german, *NAMES}
    english, spoken = (words_of_pages(user, language, paths) for language in ("en", "de"))
    found = {}
    for path in paths:
        words = {one for one in english[path] & spoken[path] if WORD.search(one)} - own
        if words:
            found[path] = words
    return found


def words_of_pages(user: User, language: str, paths: list[str]) -> dict[str, set[str]]:
    """Return by address what the page says; what is not a page says nothing."""
    User.objects.filter(pk=user.pk).update(language=language)
    client = Client()
    client.force_login(user)
    found = {}
    for path in paths:
        response = client.get(path)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        found[path] = words_of(response.text) if is_page else set()
    return found


@cache
def words_of(html: str) -> set[str]:
    """Most addresses answer that nothing is there, in the same words."""
    return Words(html).found


def without_gates(world: World) -> None:
    """Let Ada through to her task."""
    SurveyQuestion.objects.all().delete()
    AttentionCheck.objects.all().delete()


def asks_consent(world: World) -> None:
    rosa = world.people["rosa"]
    assert rosa
    revise_consent(study=Study.objects.get(name="bridges-study"), markdown="Ja?", by=rosa, at=now())


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "change", "beginning"),
    [("ada", None, "/"), ("decides", None, "/"), ("ada", without_gates, "/work/"), ("ada", asks_consent, "/work/")],
)
def test_no_page_of_an_assessor_has_english_left(
    role: str, change: Callable[[World], None] | None, beginning: str
) -> None:
    world = a_world()
    user = world.people[role]
    assert user
    User.objects.filter(pk=user.pk).update(is_researcher=False)
    if change:
        change(world)

    paths = [path_of(one, world) for one in addresses() if one.startswith(beginning) and not one.startswith(OTHERS)]

    assert alike(user, [*paths, "/no/such/page/"]) == {}


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/no/such/page/", "/work/999999/", "/studies/bridges-study/"])
def test_what_is_not_there_is_said_in_the_assessors_language_and_to_researchers_in_english(
    ada: User, rosa: User, path: str
) -> None:
    User.objects.update(language="de")
    spoken = []
    for user in (ada, rosa):
        client = Client()
        client.force_login(user)
        spoken.append(client.get(path.replace("bridges", "nobodys")).text.split('<html lang="')[1][:2])

    assert spoken == ["de", "de" if path.startswith("/work/") else "en"]


@pytest.mark.pure
def test_finds_what_is_left_in_english() -> None:
    page = Words('<p title="Open it">Read <kbd>Esc</kbd> · now</p><div class="card reading">Study’s own</div>')

    assert {one for one in page.found if WORD.search(one)} == {"Open it", "Read", "now"}
