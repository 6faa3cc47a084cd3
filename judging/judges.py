"""How prompt templates and judges are made: each is stored once, known by the hash of all that it is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.db.models import Max

from collection.models import Item, Rater, Scale, User
from collection.models.studies import TaskType
from collection.task_types import ANSWERABLE, GROUNDED, RUBRIC_0_5, UTILITY, ScaleShape
from judging.engines import GradeRequest, embedded, lexical
from judging.models import Judge, PromptTemplate
from judging.placeholders import BadTemplate, check_template, choices_of, fill, template_hash, values_of
from judging.template_files import TemplateText, shipped_templates


class BadJudge(ValueError):
    """These settings make no judge; the message says what to change."""


class JudgeNameTaken(BadJudge):
    """Another judge has this name."""


@dataclass(frozen=True)
class Asked:
    """What judges are made for: a criterion of a task type, with the scale it comes with."""

    task_type: TaskType
    criterion_name: str
    scale: ScaleShape
    label: str


# The criteria that the task types ask, and the rating of reports, which makes T1 comparable at η.
ASKED = (
    Asked(TaskType.ANSWERABILITY, "answerability", ANSWERABLE, "answerability of a report, 0 or 1"),
    Asked(TaskType.ANSWERABILITY, "report_rating", RUBRIC_0_5, "rating of a report, 0–5"),
    Asked(TaskType.RATING, "rating", RUBRIC_0_5, "rating of a passage, 0–5"),
    Asked(TaskType.KEY_POINT, "grounded", GROUNDED, "key point: grounded in the document"),
    Asked(TaskType.KEY_POINT, "utility", UTILITY, "key point: utility for the question"),
)


def save_template(template: TemplateText, *, by: User | None = None) -> tuple[PromptTemplate, bool]:
    """Return the stored template of this content, and whether it is new. Another text under its name is a new version.

    Raises BadTemplate.
    """
    _check_slug(template.name, "name", BadTemplate)
    _check_slug(template.criterion_name, "criterion", BadTemplate)
    if template.task_type not in TaskType.values:
        raise BadTemplate(f"“{template.task_type}” is no task type. There are {', '.join(TaskType.values)}.")
    if template.reply_with not in PromptTemplate.ReplyWith.values:
        raise BadTemplate(f"reply_with is “value” or “name”, not “{template.reply_with}”.")
    check_template(task_type=template.task_type, system_text=template.system_text, text=template.text)
    shaping = {
        "task_type": template.task_type,
        "criterion_name": template.criterion_name,
        "system_text": template.system_text,
        "text": template.text,
        "reply_with": template.reply_with,
    }
    content_hash = template_hash(**shaping)
    with transaction.atomic():
        stored = PromptTemplate.objects.filter(content_hash=content_hash).first()
        if stored is not None:
            return stored, False
        versions = PromptTemplate.objects.select_for_update().filter(name=template.name)
        latest = versions.aggregate(latest=Max("version"))["latest"] or 0
        return (
            PromptTemplate.objects.create(
                name=template.name,
                version=latest + 1,
                source=template.source,
                content_hash=content_hash,
                created_by=by,
                **shaping,
            ),
            True,
        )


def make_judge(
    *,
    engine: str,
    task_type: str,
    criterion_name: str,
    scale: Scale,
    model: str = "",
    template: PromptTemplate | None = None,
    decoding: Mapping[str, Any] | None = None,
    name: str = "",
    by: User | None = None,
) -> tuple[Judge, bool]:
    """Return the judge that these settings are, and whether it is new. Raises BadJudge.

    A judge that exists keeps the name it has.
    """
    if engine == Judge.Engine.OPENAI:
        template, settings = _checked_template(template, task_type, scale), _checked_decoding(decoding or {})
        if not model:
            raise BadJudge("Name the model that the server shall grade with.")
    else:
        if template is not None:
            raise BadJudge("This engine measures; it reads no prompt template.")
        model = embedded.MODEL if engine == Judge.Engine.EMBEDDED else ""
        settings = _measuring(engine, criterion_name, scale)
    content_hash = judge_hash(
        engine=engine,
        model=model,
        template_hash=template.content_hash if template else "",
        task_type=task_type,
        criterion_name=criterion_name,
        scale_hash=scale.content_hash,
        decoding=settings,
    )
    if not name:
        name = _name_of(engine, model, criterion_name)
        if Judge.objects.filter(name=name).exclude(rater__content_hash=content_hash).exists():
            name = f"{name}-{content_hash[:6]}"
    _check_slug(name, "name", BadJudge)
    with transaction.atomic():
        judge = Judge.objects.select_related("rater").filter(rater__content_hash=content_hash).first()
        if judge is not None:
            return judge, False
        if Judge.objects.filter(name=name).exists():
            raise JudgeNameTaken(f"There is another judge called “{name}”: choose another name.")
        rater = Rater.objects.create(
            kind=Rater.Kind.JUDGE,
            name=name,
            content_hash=content_hash,
            source=" ".join(filter(None, (Judge.Engine(engine).label, model, str(template or "")))),
            attributes={
                "engine": engine,
                "model": model,
                "task_type": task_type,
                "criterion": criterion_name,
                "scale_sha256": scale.content_hash,
                "decoding": settings,
                "template": template and _as_published(template),
            },
        )
        judge = Judge.objects.create(
            rater=rater,
            name=name,
            engine=engine,
            model=model,
            template=template,
            task_type=task_type,
            criterion_name=criterion_name,
            scale=scale,
            decoding=settings,
            created_by=by,
        )
        return judge, True


def judge_hash(
    *,
    engine: str,
    model: str,
    template_hash: str,
    task_type: str,
    criterion_name: str,
    scale_hash: str,
    decoding: Mapping[str, Any],
) -> str:
    """Return the SHA-256 over all of a judge that shapes its grades."""
    parts = [engine, model, template_hash, task_type, criterion_name, scale_hash, decoding]
    canonical = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def load_shipped(*, by: User | None = None) -> tuple[list[PromptTemplate], list[Judge]]:
    """Store the shipped templates, and the two baselines for every shipped criterion. Returns what is new."""
    templates = [save_template(text, by=by) for text in shipped_templates()]
    judges = [
        make_judge(
            engine=engine,
            task_type=asked.task_type,
            criterion_name=asked.criterion_name,
            scale=asked.scale.stored(),
            by=by,
        )
        for asked in ASKED
        for engine in (Judge.Engine.LEXICAL, Judge.Engine.EMBEDDED)
    ]
    return [stored for stored, new in templates if new], [judge for judge, new in judges if new]


def request_for(judge: Judge, item: Item) -> GradeRequest:
    """Return what the judge's engine gets to see of this item. Its topic, element and text come along, unasked for."""
    template, scale = judge.template, judge.scale
    reply_with = template.reply_with if template else PromptTemplate.ReplyWith.VALUE
    choices = choices_of(scale, reply_with)
    query = item.element.text if item.element else item.topic.request
    # Whether a key point is one is held against the question; everything else against the judged text.
    text = item.topic.request if judge.criterion_name == "utility" else item.judged_text.text or ""
    if template is None:
        return GradeRequest(item.pk, choices, query, text)
    values = values_of(item, scale, choices)
    return GradeRequest(
        item.pk,
        choices,
        query,
        text,
        prompt=fill(template.text, values),
        system=fill(template.system_text, values),
    )


def _checked_template(template: PromptTemplate | None, task_type: str, scale: Scale) -> PromptTemplate:
    if template is None:
        raise BadJudge("Choose a prompt template: the server needs words to reply to.")
    if template.task_type != task_type:
        raise BadJudge(f"The template “{template}” is for “{template.get_task_type_display()}”.")
    try:
        choices_of(scale, template.reply_with)
    except BadTemplate as error:
        raise BadJudge(str(error)) from error
    return template


def _checked_decoding(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decoding settings in full. Raises BadJudge for what we do not know how to send."""
    for name in decoding:
        if name not in {"temperature", "seed"}:
            raise BadJudge(f"“{name}” is no decoding setting. There are temperature and seed.")
    temperature, seed = decoding.get("temperature", 0), decoding.get("seed", 0)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 <= temperature <= 2:
        raise BadJudge("The temperature is a number from 0 to 2.")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**31:
        raise BadJudge("The seed is a whole number from 0 to 2,147,483,647.")
    return {"temperature": float(temperature), "seed": seed, "reply_rule": "first line is a choice"}


def _measuring(engine: str, criterion_name: str, scale: Scale) -> dict[str, Any]:
    """Return what a measuring engine is set to on this scale: part of the judge, so that it can never drift."""
    try:
        if engine == Judge.Engine.EMBEDDED:
            return {
                "method": "query likelihood",
                "cut_points": lexical.cut_points(embedded.CUT_POINTS, criterion_name, len(scale.values)),
                "prompt": embedded.PROMPT,
                "prior_prompt": embedded.PRIOR_PROMPT,
                "prior_weight": embedded.PRIOR_WEIGHT,
            }
        return {
            "method": lexical.IDENTITY,
            "cut_points": lexical.cut_points(lexical.CUT_POINTS, criterion_name, len(scale.values)),
        }
    except lexical.NoCutPoints as error:
        raise BadJudge(str(error)) from error


def _name_of(engine: str, model: str, criterion_name: str) -> str:
    """Return a name that tells what the judge is."""
    first = re.sub(r"[^\w-]+", "-", model.rsplit("/", 1)[-1]).strip("-_") if engine == Judge.Engine.OPENAI else engine
    return f"{first}-{criterion_name}".lower().replace("_", "-")[:140]


def _check_slug(value: str, what: str, error: type[ValueError]) -> None:
    try:
        validate_slug(value)
    except ValidationError:
        raise error(f"The {what} “{value}” is made of letters, digits, - and _ only.") from None


def _as_published(template: PromptTemplate) -> dict[str, str | int]:
    """Return what an audit bundle shows of a prompt, for whom `judging` is out of reach."""
    return {
        "name": template.name,
        "version": template.version,
        "sha256": template.content_hash,
        "system_text": template.system_text,
        "text": template.text,
        "reply_with": template.reply_with,
    }
