"""Markdown as people write it in guidelines, made into HTML that can do no harm."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Images are left out: the page loads nothing from elsewhere.
_TAGS = set(
    "a blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split()  # noqa: SIM905
)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@lru_cache(maxsize=64)
def render_markdown(markdown: str) -> SafeString:
    """Return the HTML of a Markdown text. Raw HTML in it is shown as text; images do not come through.

    That of the last few texts is kept: guidelines stand in every page of a task.
    """
    import nh3

    html = nh3.clean(
        _parser().render(markdown),
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
        clean_content_tags={"script", "style"},
    )
    return mark_safe(html)  # noqa: S308 - cleaned on the line above
