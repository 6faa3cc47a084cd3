"""Pages' own words: quotes that curl, and counts in words that fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template.loader import get_template

from config.settings import BASE_DIR

TEMPLATES = sorted((BASE_DIR / "templates").rglob("*.html"))
CODE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<(code|pre|script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
# What has both words, and the number decides.
COUNTED = re.compile(r"\{% blocktranslate [^%]*\bcount .*?endblocktranslate %\}", re.DOTALL)
UNITS = "items|pairs|tokens|replies|texts|topics|judgments|passages|systems|people|tasks|labels|runs|raters|judges"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(BASE_DIR / "templates")))
def test_a_template_has_curled_apostrophes_and_fitting_plurals(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert get_template(str(path.relative_to(BASE_DIR / "templates")))
    assert not re.findall(r".{0,20}\w'\w.{0,20}", CODE.sub(" ", text))
    plain = COUNTED.sub("", text)
    assert not re.findall(rf"\{{\{{ [^|}}]+(?:\|length)?(?:\|intcomma)? \}}\}} (?:{UNITS})\b.{{0,20}}", plain)
