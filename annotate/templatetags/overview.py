"""`{% load overview %}`: the head of a study's page as far as it needs no worker, and how often to look again."""

from django import template

from annotate.overview.computations import Overview, before_judgments
from annotate.overview.views import seconds_between
from collection.models import Study

register = template.Library()


@register.simple_tag
def overview_at_once(study: Study) -> Overview | None:
    return before_judgments(study)


@register.simple_tag
def overview_asks_again(study: Study) -> int | None:
    return seconds_between(study)
