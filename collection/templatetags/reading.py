"""`{% load reading %}`, then `{% paragraphs lines %}`: a stored text whose every code point survives the browser.

`<div {% judged "a class" study %} data-sum="{{ text|text_sum }}">` holds a text that is judged.
"""

import zlib
from collections.abc import Sequence

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from collection.models import Study
from collection.texts.drawn_markdown import drawn

register = template.Library()


def _plain(line: str) -> str:
    return f'<p dir="auto">{escape(line)}</p>' if line.strip() else f'<p class="gap">{escape(line)}</p>'


@register.simple_tag
def paragraphs(lines: Sequence[str], *, markdown: bool = False) -> SafeString:
    """Return each line, its end included, as a paragraph, with nothing between them.

    The text of the elements, joined, is the stored text exactly, so that offsets in it are offsets in the
    text; with `markdown` what it marks is drawn. An HTML parser makes a bare CR or CRLF an LF; a CR written as a
    character reference it keeps.
    """
    html = "".join(drawn(lines) if markdown else map(_plain, lines))
    return mark_safe(html.replace("\r", "&#13;"))  # noqa: S308 - every line is escaped


@register.simple_tag
def judged(classes: str, study: Study | None = None) -> SafeString:
    """Return the attributes of an element that grades or offsets refer to: browsers leave its words as they are.

    Unless the study, where there is one, allows them to translate.
    """
    if study and study.translatable:
        return mark_safe(f'class="{classes}"')  # noqa: S308 - written in a template
    return mark_safe(f'class="{classes} notranslate" translate="no"')  # noqa: S308


@register.filter
def text_sum(text: str | Sequence[str]) -> int:
    """Return the checksum of a text, or of its lines, by which a page knows whether it holds it; CR counts as LF."""
    whole = text if isinstance(text, str) else "".join(text)
    return zlib.adler32(whole.replace("\r\n", "\n").replace("\r", "\n").encode())
