"""The tag `judge_mark`: the mark of an unfinished or failing judge, with its reason."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stats.completeness import Completeness

register = template.Library()


@register.simple_tag
def judge_mark(completeness: Completeness) -> SafeString | str:
    """Return the badge with a space before it; nothing for a judge that is complete and replies readably."""
    if not completeness.mark:
        return ""
    return format_html(
        ' <span class="badge warn" title="{}">{}<span class="visually-hidden">: {}</span></span>',
        completeness.why,
        completeness.mark,
        completeness.why,
    )
