"""`{% load quality %}`, then `{% waiting_comments study as n %}`: how many comments nobody has handled."""

from django import template

from annotate.quality.inbox import waiting_in
from collection.models import Study

register = template.Library()


@register.simple_tag
def waiting_comments(study: Study) -> int:
    return waiting_in(study)
