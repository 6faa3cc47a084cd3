"""Each language is complete and fits what is said: `make translations` brings it there."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from django.conf import settings
from django.template import Context, Template
from django.utils import translation

from collection.languages.numbers import grouped
from config.translations import (
    DOMAINS,
    ENGLISH,
    Message,
    _in_template,
    catalogue_path,
    english,
    faults_of,
    files_of,
    languages,
    read,
    said,
)

MADE = "Run “make translations”, and translate what is new."


def test_languages_are_complete() -> None:
    faults = {(language, domain): faults_of(read(language, domain)) for language in languages() for domain in DOMAINS}

    assert {catalogue: found for catalogue, found in faults.items() if found} == {}


@pytest.mark.slow
def test_languages_are_up_to_what_is_said() -> None:
    outdated = [
        str(path)
        for language in (ENGLISH, *languages())
        for path, content in files_of(language)
        if path.read_bytes() != content
    ]

    assert outdated == [], MADE


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_message_has_one_id_and_every_id_one_message(domain: str) -> None:
    messages = english(domain)

    assert set(messages.values()) == set(said(domain)), MADE
    assert len(messages) == len(said(domain)), MADE
    lines = catalogue_path(ENGLISH, domain).read_text(encoding="utf-8").splitlines()
    assert sorted(lines.count(f'msgid "{name}"') for name in messages) == [1] * len(messages)


def test_catalogues_say_who_translated_them() -> None:
    for language, domain in product(languages(), DOMAINS):
        header = read(language, domain).header_comment.replace("# ", "")

        assert re.search(r"^X-Translated-By: \w+", header, re.MULTILINE), (language, domain)


def test_django_reads_what_is_compiled() -> None:
    for language in languages():
        with translation.override(language):
            assert translation.gettext("Go to my work") != "Go to my work", language


def test_finds_what_would_break_a_page() -> None:
    catalogue = Catalog(locale="de")
    catalogue.add("%(n)s of <b>ten</b>", "%(m)s von <b>zehn</b>")
    catalogue.add("Close", 'Zu"')
    catalogue.add("Open", "")
    catalogue.add("Bold <b>words</b>", "Fette Wörter")
    catalogue.add("Less", "x < y")
    catalogue.add(("%(n)s task", "%(n)s tasks"), ("eine Aufgabe", "Aufgaben"))
    catalogue.add("Guessed", "Geraten", flags=["fuzzy"])

    assert faults_of(catalogue) == [
        "“%(n)s of <b>ten</b>” has other placeholders: ['%(m)s', '%(n)s'].",
        "“Close” has a straight quotation mark, which would end an attribute.",
        "“Open” is not translated.",
        "“Bold <b>words</b>” has other tags.",
        "“Less” has a bare angle bracket.",
        "“Guessed” is marked as uncertain.",
    ]


# --- One word may be two in another language ----------------------------------------------------------

# What stands alone without a context. A word that is a verb, an adjective or ambiguous says what it is said as
# ({% translate "Start" context "button" %}): “Anfang” stood on a button.
NOUNS = """
    Account Answer Answers Assessors Background Breadcrumbs Citations Comment Confidence Consent Document
    Guidelines Importance Keys Name Notices Nugget Nuggets Passage Passages Password Person Proposals
    Questions Relevance Report Researcher Reward Sentences State Text Time title Topic Topics
    Training Translation Weight
"""
SIDES = ["Left", "Right"]
CLEAR = ["(optional)", "No.", "or", "Researcher:", "Saved", "Saved.", "Sending…", "Why", "You:"]
# Scripts have no contexts: here the first two are nouns, the others are on buttons or messages.
OF_SCRIPTS = ["Start", "End", "Close", "Done", "Insert", "Mark", "Next", "Remove", "answered", "Saving…", "“{title}”"]


def test_a_word_that_stands_alone_says_what_it_is_said_as() -> None:
    alone = {
        message.one
        for domain in DOMAINS
        for message in said(domain)
        if len(message.one.split()) == 1 and not message.many and not message.context
    }

    assert alone == {*NOUNS.split(), *SIDES, *CLEAR, *OF_SCRIPTS}


def test_messages_with_contexts_are_found_and_drawn() -> None:
    template = '{% load i18n %}{% translate "Start" context "button" %}'

    assert list(_in_template(template)) == [Message("Start", context="button")]
    assert Message("split", context="kind of proposal") in said("django")
    with translation.override("de"):
        assert Template(template).render(Context()) == translation.pgettext("button", "Start") == "Beginnen"


# --- Numbers in sentences --------------------------------------------------------------------------------

# Whose words take other forms with other numbers; in the others some do not change at all.
INFLECTED = ["ar", "he", "ru"]


@pytest.mark.parametrize("language", INFLECTED)
def test_a_sentence_with_a_number_has_the_forms_that_the_language_needs(language: str) -> None:
    alike = [
        message.id[0]
        for domain in DOMAINS
        for message in read(language, domain)
        if message.pluralizable and message.id[0] != message.id[1] and len(set(message.string)) == 1
    ]

    assert alike == []


def test_arabic_says_one_two_few_and_many() -> None:
    with translation.override("ar"):
        said_of = {n: translation.ngettext("about %(n)s minute", "about %(n)s minutes", n) for n in (1, 2, 5, 11)}

    assert len(set(said_of.values())) == 4
    assert "%(n)s" not in said_of[2]  # the dual is one word


def test_numbers_are_grouped_as_the_language_does() -> None:
    formatted = [message.one for domain in DOMAINS for message in said(domain) if re.search(r"\{\w*:", message.one)]

    assert formatted == []
    with translation.override("de"):
        assert grouped(5000) == "5.000"
    assert grouped(5000) == "5,000"


# --- Everything that assessors read is marked ---------------------------------------------------------

# Folders and files of assessors' templates, but for those that only researchers see.
READ_BY_ASSESSORS = ["annotate/a*.html", "annotate/queue*.html", "annotate/written_answer_keys.html", "account/*.html"]
UNMARKED = re.compile(r"\{% comment.*?endcomment %\}|\{#.*?#\}|\{% blocktranslate.*?endblocktranslate %\}", re.DOTALL)
IN_QUOTES = re.compile(r'"\{% translate "[^"]*"(?: context "[^"]*")? %\}"')
TAGS = re.compile(r"\{% block (?:main_class|\w+_data) %\}[^{]+|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
NO_WORDS = re.compile(r"<(kbd|code|script|style)\b.*?</\1>", re.DOTALL)
ATTRIBUTE = re.compile(r'(?:aria-label|title|placeholder)="([^"]*)"')
TEMPLATES = sorted(
    path for pattern in READ_BY_ASSESSORS for path in (Path(settings.BASE_DIR) / "templates").glob(pattern)
)


def unmarked(source: str) -> list[str]:
    """Return the words of a template that are not marked for translation."""
    plain = TAGS.sub("", IN_QUOTES.sub('""', UNMARKED.sub("", source)))
    texts = re.sub(r"<[^>]*>", "|", NO_WORDS.sub("", plain)).split("|")
    return [" ".join(text.split()) for text in [*ATTRIBUTE.findall(plain), *texts] if re.search("[A-Za-z]{2}", text)]


def test_assessors_templates_have_no_unmarked_words() -> None:
    found = {str(path): words for path in TEMPLATES if (words := unmarked(path.read_text(encoding="utf-8")))}

    assert found == {}


def test_finds_unmarked_words() -> None:
    assert unmarked('<p title="Open">{% translate "Read" %} {{ name }} <kbd>Esc</kbd> closes</p>') == ["Open", "closes"]
