"""`{% load markdown %}`, then `{{ guideline.markdown|markdown }}`."""

from django import template
from django.utils.safestring import SafeString

from collection.texts.markdown import render_markdown

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    return render_markdown(text)
