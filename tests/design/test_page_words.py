"""Pages' own words: quotes that curl, and counts in words that fit."""

from __future__ import annotations

import re

from config.settings import BASE_DIR

TEXTS = [path.read_text(encoding="utf-8") for path in sorted((BASE_DIR / "templates").rglob("*.html"))]
CODE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<(code|pre|script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
# What has both words, and the number decides.
COUNTED = re.compile(r"\{% blocktranslate [^%]*\bcount .*?endblocktranslate %\}", re.DOTALL)
UNITS = "items|pairs|tokens|replies|texts|topics|judgments|passages|systems|people|tasks|labels|runs|raters|judges"


def test_templates_have_curled_apostrophes() -> None:
    straight = re.compile(r".{0,20}\w'\w.{0,20}")

    assert [found for text in TEXTS for found in straight.findall(CODE.sub(" ", text))] == []


def test_counts_in_templates_have_fitting_plurals() -> None:
    always_plural = re.compile(rf"\{{\{{ [^|}}]+(?:\|length)?(?:\|intcomma)? \}}\}} (?:{UNITS})\b.{{0,20}}")

    assert [found for text in TEXTS for found in always_plural.findall(COUNTED.sub("", text))] == []
