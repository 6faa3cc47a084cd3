"""A message that is reworded keeps its id and its translations, which are used until somebody reviewed them."""

from __future__ import annotations

import gettext
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from config import translations
from config.translations import (
    DOMAINS,
    ENGLISH,
    Message,
    catalogue_path,
    compiled_path,
    english,
    faults_of,
    languages,
    read,
    read_by_id,
    script_path,
    to_be_reviewed,
)

Said = dict[Message, list[str]]
OPEN = Message("Open the next task")
ID = "list.open-the-next-task"


class Pages:
    """What a small site says, in templates and scripts alike, and its catalogues."""

    def __init__(self) -> None:
        self.said: Said = {}

    def make(self, *reviewed: str) -> str:
        """Run the command. Returns what it prints."""
        printed = StringIO()
        call_command("make_translations", reviewed=list(reviewed), stdout=printed)
        return printed.getvalue()


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Pages:
    """Pages that say two things, translated into twelve languages."""
    pages = Pages()
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    monkeypatch.setattr(translations, "said", lambda _: pages.said)
    settings.LOCALE_PATHS = [tmp_path / "locale"]
    (tmp_path / "static/js/words").mkdir(parents=True)
    pages.said = {OPEN: ["list.html"], Message("Close", context="button"): ["list.html"]}
    pages.make()
    for language in languages():
        for domain in DOMAINS:
            path = catalogue_path(language, domain)
            path.write_text(path.read_text().replace('msgstr ""\n\n', f'msgstr "in {language}"\n\n'))
    pages.make()
    return pages


def reworded(pages: Pages, words: str) -> None:
    """Say the first message in other words."""
    pages.said = {
        (message._replace(one=words) if message == OPEN else message): at for message, at in pages.said.items()
    }


def listed(language: str) -> list[str]:
    return [name for domain in DOMAINS for name in to_be_reviewed(language, domain)]


def test_twelve_translations_of_a_rewording_are_used_until_they_are_reviewed(pages: Pages) -> None:
    words = "Open your next task"
    reworded(pages, words)

    printed = pages.make()

    assert (len(languages()), ENGLISH in languages()) == (12, False)
    assert english("django")[ID] == Message(words)
    assert printed.count(f"{ID} is reworded") == len(DOMAINS)
    assert printed.count(": 0 faults, 2 to be reviewed") == 12
    for language in languages():
        with compiled_path(language).open("rb") as file:
            assert gettext.GNUTranslations(file).gettext(words) == f"in {language}"
        script = script_path(language).read_text(encoding="utf-8")
        assert json.loads(script.split("words: ")[1].removesuffix(" };\n"))[words] == f"in {language}"
        assert listed(language) == [ID, ID]

    printed = pages.make("de", "zh-hans")

    assert [language for language in languages() if not listed(language)] == ["de", "zh-hans"]
    assert printed.count(": 0 faults, 2 to be reviewed") == 10


def test_what_is_said_as_before_again_needs_no_review(pages: Pages) -> None:
    reworded(pages, "Open your next task")
    pages.make()
    pages.said = {OPEN: ["list.html"]}

    pages.make()

    assert list(english("django")) == [ID]
    assert listed("de") == []


def test_a_rewording_with_other_placeholders_is_a_fault_until_it_is_translated(pages: Pages) -> None:
    reworded(pages, "Open the next task of %(study)s")

    pages.make()

    assert ID in listed("de")
    [fault] = faults_of(read("de", "django"))
    assert "['%(study)s']" in fault


@pytest.mark.parametrize(
    "now",
    [
        {Message("Show the following text"): ["list.html"]},
        {Message("Open your next task"): ["elsewhere.html"]},
        {Message("Open the next task", "Open the next tasks"): ["list.html"]},
        {OPEN: ["list.html"], Message("Open your next task"): ["list.html"]},
    ],
    ids=["not alike", "another file", "with a plural", "what was said is still said"],
)
def test_a_new_message_gets_an_id_of_its_own_and_no_translation(pages: Pages, now: Said) -> None:
    pages.said = now

    pages.make()

    [new] = [name for name, message in english("django").items() if message != OPEN]
    assert new != ID
    assert read("de", "django").get(next(reversed(now)).one).string in ("", ("", ""))


def test_of_two_messages_each_goes_to_the_one_most_like_it(pages: Pages) -> None:
    pages.said = {Message(f"Mark the {word} sentence of the answer"): ["list.html"] for word in ("first", "last")}
    pages.make()
    before = english("django")

    pages.said = {Message(f"Now mark the {word} sentence of the answer"): ["list.html"] for word in ("last", "first")}
    pages.make()

    assert {name: f"Now mark{message.one[4:]}" for name, message in before.items()} == {
        name: message.one for name, message in english("django").items()
    }


def test_new_words_under_the_id_make_a_rewording_of_any_other(pages: Pages) -> None:
    words = "Go on"
    for domain in DOMAINS:
        path = catalogue_path(ENGLISH, domain)
        path.write_text(path.read_text().replace(f'"{OPEN.one}"', f'"{words}"'))
    reworded(pages, words)

    pages.make()

    assert english("django")[ID] == Message(words)
    assert read("de", "django").get(words).string == "in de"
    assert to_be_reviewed("de", "django") == {ID: OPEN.one}


def test_another_context_is_to_be_reviewed(pages: Pages) -> None:
    pages.said = {Message("Close", context="heading"): ["list.html"]}

    pages.make()

    assert read("de", "django").get("Close", "heading").string == "in de"
    assert to_be_reviewed("de", "django") == {"list.close": "Close (button)"}


@pytest.mark.parametrize("many", ["", "Long well-known sentences"])
def test_long_words_that_did_not_change_need_no_review(pages: Pages, many: str) -> None:
    pages.said = {Message(" ".join(f"well-known-{n}" for n in range(40)), many): ["list.html"]}
    pages.make()

    pages.make()

    [(name, message)] = english("django").items()
    assert message in pages.said
    assert len(read_by_id("de", "django").get(name).auto_comments) > 1
    assert listed("de") == []


def test_messages_that_begin_alike_have_ids_that_differ(pages: Pages) -> None:
    pages.said = {Message(f"This is the same long beginning, {end}"): ["a/list.html"] for end in ("one", "two")}
    pages.said |= {Message("Close", context=context): ["list.html"] for context in ("", "button")}

    pages.make()

    begun = "list.this-is-the-same-long"
    assert set(english("django")) == {begun, f"{begun}-2", "list.close", "list.close-2"}
