"""What a model would read: a template filled with a real item, and about how many tokens that is."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from collection.models import Criterion, Item, Scale, Study
from judging.engines.token_counts import guessed
from judging.models import PromptTemplate
from judging.prompts.criteria import judged_criterion_named
from judging.prompts.placeholders import BadTemplate, replies_of
from judging.prompts.rendering import example_in_words, prompt_of


def preview(template: PromptTemplate, item: Item | None, study: Study) -> dict[str, Any]:
    """Fill the template with the item, in both orders if it is asked in both, and guess its tokens."""
    scale = scale_for(template, study)
    if item is None or scale is None:
        return {}
    try:
        replies = replies_of(template, scale)
    except BadTemplate as error:
        return {"item": item, "refusal": str(error)}
    prompt = prompt_of(template, item, scale, examples=_example_of_examples(template, item, scale))
    return {
        "item": item,
        "prompt": prompt,
        "swapped": prompt_of(template, item, scale, swapped=True) if template.orders == 2 else None,
        "replies": list(zip(replies.choices, replies.values, strict=True)),
        "tokens": guessed(prompt.system, prompt.text),
    }


def _example_of_examples(template: PromptTemplate, item: Item, scale: Scale) -> str:
    """Show how an example would look, with this item's own texts: which items are shown is up to the judge."""
    if not template.example_text:
        return ""
    return example_in_words(template, item, scale, replies_of(template, scale).values[0])


def item_after(template: PromptTemplate, study: Study, after: str) -> Item | None:
    """Return the study's first item after this key whose texts are here; the first of all if none follows."""
    items = items_to_preview(template).filter(study=study).order_by("pk")
    later = items.filter(pk__gt=int(after)) if after.isdecimal() and len(after) < 19 else items
    return later.first() or items.first()


def scale_for(template: PromptTemplate, study: Study) -> Scale | None:
    """Return the scale that the study asks the template's criterion on, or the one that the criterion comes with."""
    criterion = criterion_for(template, study)
    if criterion is not None:
        return criterion.scale
    asked = judged_criterion_named(template.criterion_name)
    return asked.scale.stored() if asked else None


def criterion_for(template: PromptTemplate, study: Study) -> Criterion | None:
    """Return the study's criterion that the template is for."""
    criteria = study.criteria.select_related("scale", "study")
    return criteria.filter(task_type=template.task_type, name=template.criterion_name).first()


def items_to_preview(template: PromptTemplate) -> QuerySet[Item]:
    """Return the items that the template could ask about, of all studies, whose texts are here."""
    return (
        Item.objects.filter(task_type=template.task_type)
        .exclude(element__masked=True)
        .exclude(passage__isnull=False, passage__text__isnull=True)
        .select_related("topic", "element", "passage", "report", "other_report", "sentence", "study__collection")
    )
