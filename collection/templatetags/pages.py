"""`{% load pages %}`, then `{% pages found "Pages of topics" %}`: the way through a list shown a page at a time."""

from typing import Any

from django import template
from django.core.paginator import Page
from django.template.context import Context

register = template.Library()


@register.inclusion_tag("collection/pages.html", takes_context=True)
def pages(
    context: Context,
    page: Page[Any],
    label: str,
    *,
    parameter: str = "page",
    at: str = "",
    earlier: str = "Previous",
    later: str = "Next",
) -> dict[str, object]:
    """Return what the links to the pages before and after this one say; nothing is shown where there is but one page.

    All else that the address asks for stays in the links. `parameter` holds the page's number, where a page has
    several lists; `at` is the id of the heading that a link leads to.
    """

    def address(number: int) -> str:
        query = context["request"].GET.copy()
        query[parameter] = str(number)
        return f"?{query.urlencode()}{'#' if at else ''}{at}"

    return {
        "page": page,
        "label": label,
        "before": address(page.previous_page_number()) if page.has_previous() else "",
        "after": address(page.next_page_number()) if page.has_next() else "",
        "earlier": earlier,
        "later": later,
    }
