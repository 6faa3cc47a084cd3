"""`{% load languages %}`: what a page says of its language. All of it is text by the time the page is drawn."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.base import Parser, TextNode, Token
from django.templatetags.static import static
from django.utils import translation

from collection.languages.languages import ENGLISH, NAMES

register = template.Library()


@register.tag
def html_language(_parser: Parser, _token: Token) -> TextNode:
    """The attributes of <html>: its language, and its direction where that is from right to left."""
    language = translation.get_language() or ENGLISH
    direction = ' dir="rtl"' if translation.get_language_bidi() else ""
    return TextNode(f'lang="{language}"{direction}')


@register.tag
def words_of_scripts(_parser: Parser, _token: Token) -> TextNode:
    """The script with the words of all others. The browser keeps it; English needs none."""
    language = translation.get_language() or ENGLISH
    return TextNode("" if language == ENGLISH else f'<script src="{static(f"js/words/{language}.js")}"></script>')


@register.inclusion_tag("languages.html", takes_context=True)
def language_menu(context: dict[str, Any]) -> dict[str, Any]:
    """A button for each language, named in itself, which comes back to this page."""
    request = context["request"]
    back = request.get_full_path() if request.method == "GET" else "/"
    current = translation.get_language() or ENGLISH
    return {"languages": NAMES, "current": current, "next": back, "csrf_token": context.get("csrf_token")}
