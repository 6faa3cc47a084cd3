"""How prompt templates are checked and stored: each version once, known by the hash of all that shapes a grade."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.db.models import Max

from collection.models import User
from collection.questions.shapes import TASK_TYPES, task_type_choices
from judging.models import PromptTemplate
from judging.prompts.placeholders import BadTemplate, check_placeholders
from judging.prompts.template_files import TemplateText

MOST_REPLY_TOKENS = 4_096
Rule = PromptTemplate.ReplyRule


def save_template(template: TemplateText, *, by: User | None = None) -> tuple[PromptTemplate, bool]:
    """Return the stored template of this content, and whether it is new. Another text under its name is a new version.

    Raises BadTemplate.
    """
    check_template(template)
    shaping = _shaping(template)
    content_hash = template_hash(shaping)
    with transaction.atomic():
        stored = PromptTemplate.objects.filter(content_hash=content_hash).first()
        if stored is not None:
            return stored, False
        versions = PromptTemplate.objects.select_for_update().filter(name=template.name)
        latest = versions.aggregate(latest=Max("version"))["latest"] or 0
        made = PromptTemplate.objects.create(
            name=template.name,
            version=latest + 1,
            source=template.source,
            content_hash=content_hash,
            created_by=by,
            **shaping,
        )
        return made, True


def check_template(template: TemplateText) -> None:
    """Raise BadTemplate unless the template can be filled, asked and read."""
    _check_slug(template.name, "name")
    _check_slug(template.criterion_name, "criterion")
    if template.task_type not in TASK_TYPES:
        known = ", ".join(name for name, _ in task_type_choices())
        raise BadTemplate(f"“{template.task_type}” is not a task type. Use one of {known}.")
    if template.reply_with not in PromptTemplate.ReplyWith.values:
        offered = ", ".join(f"“{value}”" for value in PromptTemplate.ReplyWith.values)
        raise BadTemplate(f"reply_with must be one of {offered}, not “{template.reply_with}”.")
    _check_replies(template)
    _check_rule(template)
    if template.orders not in {1, 2} or (template.orders == 2 and TASK_TYPES[template.task_type].text != "pair"):
        raise BadTemplate("orders must be 1, or 2 for pairs: only two texts can be swapped.")
    if template.cut_text_at is not None and template.cut_text_at < 1:
        raise BadTemplate("The character limit for texts must be at least 1.")
    check_placeholders(
        task_type=template.task_type,
        system_text=template.system_text,
        text=template.text,
        example_text=template.example_text,
        own_replies=[reply for reply, _ in template.replies],
    )


def template_hash(shaping: dict[str, Any]) -> str:
    """Return the SHA-256 over all of a template that shapes a grade."""
    canonical = json.dumps(shaping, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _shaping(template: TemplateText) -> dict[str, Any]:
    fields = asdict(template)
    del fields["name"], fields["source"]
    return fields | {"replies": [[reply, grade] for reply, grade in template.replies]}


def _check_replies(template: TemplateText) -> None:
    own = template.reply_with == PromptTemplate.ReplyWith.OWN
    if own != bool(template.replies):
        raise BadTemplate(
            "The model replies with the template's own words: give each word and its grade."
            if own
            else "The template's own words need reply_with = “own”."
        )
    words = [reply.casefold() for reply, _ in template.replies]
    if any(not word or word != word.strip() or "\n" in word for word in words) or len(set(words)) < len(words):
        raise BadTemplate(
            "The template's own words must be different lines, none of them empty; capital letters do not matter."
        )
    if own and len({grade for _, grade in template.replies}) < 2:
        raise BadTemplate("The template's own words all have the same grade: give them different grades.")


def _check_rule(template: TemplateText) -> None:
    if template.reply_rule not in Rule.values:
        raise BadTemplate(f"reply_rule must be one of {', '.join(Rule.values)}, not “{template.reply_rule}”.")
    if bool(template.reply_mark) != (template.reply_rule == Rule.MARKED_LINE):
        raise BadTemplate(
            "Give the mark with which the line with the grade begins."
            if template.reply_rule == Rule.MARKED_LINE
            else "A mark needs reply_rule = “marked_line”."
        )
    if template.reply_tokens is None and template.reply_rule in {Rule.LAST_LINE, Rule.MARKED_LINE}:
        raise BadTemplate("The grade does not come first: give the reply token limit (reply_tokens).")
    if template.reply_tokens is not None and not 1 <= template.reply_tokens <= MOST_REPLY_TOKENS:
        raise BadTemplate(f"The reply token limit must be from 1 to {MOST_REPLY_TOKENS:,}.")
    if template.reply_tokens is not None and template.reply_rule == Rule.LIKELIEST:
        raise BadTemplate("The likeliest reply needs only one token: leave reply_tokens out.")


def _check_slug(value: str, what: str) -> None:
    try:
        validate_slug(value)
    except ValidationError:
        raise BadTemplate(f"The {what} “{value}” may contain only letters, digits, - and _.") from None
