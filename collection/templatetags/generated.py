"""`{% load generated %}`, then `{% own_texts study %}`: judges that grade what a model of their own family wrote."""

from __future__ import annotations

from typing import Any

from django import template

from collection.judgments.rater_names import study_raters
from collection.models import Rater, Study
from collection.texts.generated import generated_in
from collection.texts.generated import own_texts as own_texts_of

register = template.Library()


@register.inclusion_tag("collection/own_texts.html")
def own_texts(study: Study, judge: Rater | None = None) -> dict[str, Any]:
    """Say it of this judge, or of every judge with a judgment in the study; nothing where a model wrote nothing."""
    makings = generated_in(study)
    judges = [judge] if judge else [one for one in (study_raters(study) if makings else ()) if one.kind == "judge"]
    return {"found": own_texts_of(judges, makings)}
