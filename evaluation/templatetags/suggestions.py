"""`{% load suggestions %}`, then `{% unaided_only study %}`: figures leave out labels given with a judge's help."""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Count

from collection.judgments.unaided import SEEN
from collection.models import Study, Suggestion

register = template.Library()


@register.inclusion_tag("evaluation/unaided_only.html")
def unaided_only(study: Study) -> dict[str, Any]:
    """Say how many questions were asked with a judge's grade in view, if any were."""
    seen = Suggestion.objects.filter(SEEN, criterion__study=study).order_by()
    return {"study": study, "n_by_arm": dict(seen.values_list("arm").annotate(Count("pk")))}
