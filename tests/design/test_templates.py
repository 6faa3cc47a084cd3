"""What the Content-Security-Policy would refuse is refused before it reaches a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted(path.relative_to(ROOT / "templates") for path in (ROOT / "templates").rglob("*.html"))
STATIC = sorted(
    path.relative_to(ROOT) for path in (ROOT / "static").rglob("*") if path.suffix in {".css", ".js", ".svg"}
)

FORBIDDEN_IN_HTML = {
    "an inline script": r"<script(?![^>]*\bsrc=)",
    "an inline sheet": r"<style\b",
    "a style attribute": r"\sstyle\s*=",
    "an event handler": r"\son[a-z]+\s*=",
    "hx-on, which needs eval": r"\s(data-)?hx-on\b",
    "hx-vals with js:, which needs eval": r"hx-vals\s*=\s*.js:",
    "a javascript: address": r"javascript:(?! )",
    "mark_safe's door": r"\|\s*safe\b(?!seq)|autoescape\s+off",
}
# Names, not addresses: nothing is fetched from a namespace.
NAMESPACE = "http://www.w3.org/"
OTHER_HOST = r"(?:https?:)?//[a-z0-9-]+\.[a-z]"

# Django's own texts for help, written by programmers.
MAY_USE_SAFE = {"django/forms/field.html"}


def findings_in(text: str) -> list[str]:
    text = re.sub(r"{%\s*(with|include|if|elif)\b.*?%}", "", text)  # `{% with one=… %}` is no event handler
    return [name for name, pattern in FORBIDDEN_IN_HTML.items() if re.search(pattern, text, flags=re.IGNORECASE)]


def test_templates_compile() -> None:
    for path in TEMPLATES:
        get_template(str(path))


def test_templates_have_nothing_that_the_policy_refuses() -> None:
    found = {
        str(path): findings for path in TEMPLATES if (findings := findings_in((ROOT / "templates" / path).read_text()))
    }

    assert found == {path: ["mark_safe's door"] for path in MAY_USE_SAFE}


def test_no_file_asks_another_host() -> None:
    files = [*(Path("templates") / path for path in TEMPLATES), *STATIC]
    texts = {str(path): (ROOT / path).read_text().replace(NAMESPACE, "") for path in files}

    assert {path: hosts for path, text in texts.items() if (hosts := re.findall(OTHER_HOST, text))} == {}


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ("<script>alert(1)</script>", "an inline script"),
        ("<style>p {}</style>", "an inline sheet"),
        ('<p style="color: red">', "a style attribute"),
        ('<button onclick="go()">', "an event handler"),
        ('<form hx-on:submit="go()">', "hx-on, which needs eval"),
        ("<a href='javascript:go()'>", "a javascript: address"),
        ("{{ guideline|safe }}", "mark_safe's door"),
    ],
)
def test_the_check_sees_what_the_policy_refuses(html: str, name: str) -> None:
    assert findings_in(html) == [name]


def test_the_check_sees_another_host() -> None:
    assert re.findall(OTHER_HOST, '<script src="//cdn.example.com/x.js">')
    assert re.findall(OTHER_HOST, "@import url(https://fonts.example.org/css)")
