"""How judges are made: each is stored once, known by the hash of all that shapes its grades."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from collection.formats.problems import BrokenLine
from collection.formats.values import strict_object
from collection.models import Rater, Scale, User
from collection.questions.shapes import title_of
from judging.engines import embedded, lexical
from judging.engines.thinking import MODES, MOST_ROOM, OFF, SERVERS_OWN, SWITCHES
from judging.models import Judge, PromptTemplate
from judging.prompts.criteria import JUDGED_CRITERIA
from judging.prompts.few_shot import Examples
from judging.prompts.own_prompts import own_template
from judging.prompts.placeholders import BadTemplate, replies_of
from judging.prompts.template_files import shipped_templates
from judging.prompts.template_versions import save_template

MEASURING = {Judge.Engine.LEXICAL: lexical.CUT_POINTS, Judge.Engine.EMBEDDED: embedded.CUT_POINTS}

# Parameters of a request that follow from the judge's other settings, or would change the form of the answer.
OWN_PARAMETERS = frozenset({
    "model", "messages", "prompt", "temperature", "seed", "max_tokens", "max_completion_tokens", "logprobs",
    "top_logprobs", "structured_outputs", "response_format", "grammar", "guided_choice", "guided_json",
    "guided_grammar", "guided_regex", "n", "best_of", "stream", "stream_options", "stop", "tools", "tool_choice",
    "functions", "include_reasoning", "thinking_token_budget", "thinking_budget_tokens",
})  # fmt: skip
LONGEST_EXTRA = 2_000


@dataclass(frozen=True)
class EngineChoice:
    """The engines that can grade a criterion, and why there is no lexical baseline; empty where there is one.

    `no_embedded`: why the embedded model cannot grade it by its nature; empty where it can, or nobody set it up for it.
    """

    engines: tuple[Judge.Engine, ...]
    no_lexical: str
    no_embedded: str = ""

    @property
    def labels(self) -> list[str]:
        return [str(engine.label) for engine in self.engines]


class BadJudge(ValueError):
    """These settings make no judge; the message says what to change."""


class JudgeNameTaken(BadJudge):
    """Another judge has this name."""


def make_judge(
    *,
    engine: str,
    task_type: str,
    criterion_name: str,
    scale: Scale,
    model: str = "",
    template: PromptTemplate | None = None,
    decoding: Mapping[str, Any] | None = None,
    examples: Examples | None = None,
    name: str = "",
    by: User | None = None,
) -> tuple[Judge, bool]:
    """Return the judge that these settings are, and whether it is new. Raises BadJudge.

    A judge that exists keeps the name it has.
    """
    if engine == Judge.Engine.ENSEMBLE:
        raise BadJudge("An ensemble needs members.")
    if engine not in MEASURING:
        template = template or own_template(task_type, criterion_name)
        template, settings = _checked_template(template, task_type, scale, examples), _checked_decoding(decoding or {})
        if not model:
            raise BadJudge("Name the model that grades.")
        if engine != Judge.Engine.OPENAI and (settings.keys() & {"thinking", "thinking_tokens", "extra"}):
            raise BadJudge("Only servers are asked to think, or sent parameters of your own: leave these empty.")
        if engine == Judge.Engine.TEXT2TEXT and settings["temperature"]:
            raise BadJudge("An encoder–decoder computes how likely each grade is: its temperature must be 0.")
    else:
        if template is not None or examples is not None:
            raise BadJudge("This engine computes a score; it uses no prompt template.")
        model = embedded.MODEL if engine == Judge.Engine.EMBEDDED else ""
        settings = _measuring(engine, criterion_name, scale)
    return store_judge(
        Judge(
            engine=engine,
            model=model,
            template=template,
            task_type=task_type,
            criterion_name=criterion_name,
            scale=scale,
            decoding=settings,
            examples=[dict(row) for row in examples.rows] if examples else [],
            examples_from=examples.study if examples else None,
            created_by=by,
        ),
        name=name,
    )


def store_judge(judge: Judge, *, name: str = "", members: Sequence[str] = ()) -> tuple[Judge, bool]:
    """Store a judge that was put together, with its rater, or return the one that is the same.

    `members` are the names of an ensemble's, for its provenance. Raises BadJudge and JudgeNameTaken.
    """
    content_hash = judge_hash(judge)
    if not name:
        name = _name_of(judge)
        if Judge.objects.filter(name=name).exclude(rater__content_hash=content_hash).exists():
            name = f"{name}-{content_hash[:6]}"
    try:
        validate_slug(name)
    except ValidationError:
        raise BadJudge(f"The name “{name}” may contain only letters, digits, - and _.") from None
    with transaction.atomic():
        stored = Judge.objects.select_related("rater").filter(rater__content_hash=content_hash).first()
        if stored is not None:
            return stored, False
        if Judge.objects.filter(name=name).exists():
            raise JudgeNameTaken(f"There is another judge called “{name}”: choose another name.")
        judge.name = name
        judge.rater = Rater.objects.create(
            kind=Rater.Kind.JUDGE,
            name=name,
            content_hash=content_hash,
            source=" ".join(filter(None, (judge.get_engine_display(), judge.model, str(judge.template or "")))),
            attributes=_as_published(judge) | ({"members": list(members)} if members else {}),
        )
        judge.save()
        return judge, True


def engines_for(criterion_name: str, scale: Scale) -> EngineChoice:
    """Return which engines can grade the criterion on this scale; what reads prompts can grade every one."""
    why_not = dict.fromkeys(MEASURING, "")
    for engine in MEASURING:
        try:
            _measuring(engine, criterion_name, scale)
        except BadJudge as error:
            why_not[engine] = str(error)
    measuring = (engine for engine, reason in why_not.items() if not reason)
    no_embedded = why_not[Judge.Engine.EMBEDDED] if criterion_name in embedded.NO_RULE else ""
    engines = (*measuring, Judge.Engine.OPENAI, Judge.Engine.VLLM, Judge.Engine.TEXT2TEXT)
    return EngineChoice(engines, why_not[Judge.Engine.LEXICAL], no_embedded)


def judge_hash(judge: Judge) -> str:
    """Return the SHA-256 over all of a judge that shapes its grades."""
    parts = [
        judge.engine,
        judge.model,
        judge.template.content_hash if judge.template else "",
        judge.task_type,
        judge.criterion_name,
        judge.scale.content_hash,
        judge.decoding,
        judge.examples,
        judge.examples_from.name if judge.examples_from else "",
    ]
    canonical = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def load_shipped(*, by: User | None = None) -> tuple[list[PromptTemplate], list[Judge]]:
    """Store the shipped templates, and the baselines for each criterion they were set for. Returns what is new."""
    templates = [save_template(text, by=by) for text in shipped_templates()]
    judges = [
        make_judge(
            engine=engine,
            task_type=asked.task_type,
            criterion_name=asked.criterion_name,
            scale=asked.scale.stored(),
            by=by,
        )
        for asked in JUDGED_CRITERIA
        for engine, cuts in MEASURING.items()
        if asked.criterion_name in cuts
    ]
    return [stored for stored, new in templates if new], [judge for judge, new in judges if new]


def _checked_template(
    template: PromptTemplate | None, task_type: str, scale: Scale, examples: Examples | None
) -> PromptTemplate:
    if template is None:
        raise BadJudge("Choose a prompt template: the model needs one.")
    if template.task_type != task_type:
        raise BadJudge(f"The template “{template}” is for “{title_of(template.task_type)}”.")
    try:
        values = replies_of(template, scale).values
    except BadTemplate as error:
        raise BadJudge(str(error)) from error
    if template.orders == 2 and ({-value for value in values} != set(values) or 0 not in scale.values):
        raise BadJudge(f"Judging both orders needs a symmetric scale with a tie; “{scale}” is not one.")
    if examples is not None:
        _check_examples(template, values, examples)
    return template


def _check_examples(template: PromptTemplate, values: Sequence[float], examples: Examples) -> None:
    if not template.example_text:
        raise BadJudge(f"The template “{template}” has no place for examples.")
    for row in examples.rows:
        if row["grade"] not in values:
            raise BadJudge(f"The template has no reply for the grade {row['grade']:g} of an example.")


def _checked_decoding(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decoding settings in full. Raises BadJudge for what we do not know how to send.

    What says nothing of thinking, or sends nothing of its own, is left out: so are judges made before known again.
    """
    for name in decoding:
        if name not in {"temperature", "seed", "endpoint", "thinking", "thinking_tokens", "extra"}:
            raise BadJudge(
                f"“{name}” is not a decoding setting. Use temperature, seed, endpoint, thinking, thinking_tokens and "
                "extra."
            )
    temperature, seed = decoding.get("temperature", 0), decoding.get("seed", 0)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 <= temperature <= 2:
        raise BadJudge("The temperature must be a number from 0 to 2.")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**31:
        raise BadJudge("The seed must be a whole number from 0 to 2,147,483,647.")
    endpoint = decoding.get("endpoint", "chat")
    if endpoint not in ("chat", "completions"):
        raise BadJudge("The endpoint must be “chat” or “completions”.")
    settings = {"temperature": float(temperature), "seed": seed, "endpoint": endpoint}
    return settings | _checked_thinking(decoding, endpoint) | _checked_extra(decoding.get("extra") or {})


def _checked_thinking(decoding: Mapping[str, Any], endpoint: str) -> dict[str, Any]:
    mode, tokens = decoding.get("thinking") or SERVERS_OWN, decoding.get("thinking_tokens") or 0
    if mode not in MODES:
        raise BadJudge(f"Thinking must be one of {', '.join(mode or '“”' for mode in MODES)}.")
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 0 <= tokens <= MOST_ROOM:
        raise BadJudge(f"The tokens of thinking must be a whole number from 0 to {MOST_ROOM:,}.")
    if tokens and mode == OFF:
        raise BadJudge("A model that must not think needs no tokens for it.")
    if mode != SERVERS_OWN and endpoint == "completions":
        raise BadJudge("Servers are asked to think, or not to, at the endpoint “chat” only.")
    return {name: value for name, value in (("thinking", mode), ("thinking_tokens", tokens)) if value}


def _checked_extra(extra: Any) -> dict[str, Any]:
    """Return further parameters of every request. Raises BadJudge for those that are set elsewhere."""
    if not isinstance(extra, dict):
        raise BadJudge("The extra parameters must be a JSON object.")
    if ours := sorted({*OWN_PARAMETERS, *SWITCHES} & set(extra)):
        raise BadJudge(f"Assize itself sends {', '.join(ours)}: remove it from the extra parameters.")
    try:
        written = json.dumps(extra, allow_nan=False)
        strict_object(written)
    except (ValueError, BrokenLine) as error:
        raise BadJudge(f"The extra parameters cannot be stored. {error}") from error
    if len(written) > LONGEST_EXTRA:
        raise BadJudge(f"The extra parameters may take {LONGEST_EXTRA:,} characters of JSON.")
    return {"extra": extra} if extra else {}


def _measuring(engine: str, criterion_name: str, scale: Scale) -> dict[str, Any]:
    """Return what a measuring engine is set to on this scale: part of the judge, so that it can never drift."""
    try:
        if engine == Judge.Engine.EMBEDDED:
            return {
                "method": "query likelihood",
                "cut_points": embedded.cut_points(criterion_name, len(scale.values)),
                "prompt": embedded.PROMPT,
                "prior_prompt": embedded.PRIOR_PROMPT,
                "prior_weight": embedded.PRIOR_WEIGHT,
            }
        return {
            "method": lexical.METHODS.get(criterion_name, lexical.OVERLAP),
            "cut_points": lexical.cut_points(lexical.CUT_POINTS, criterion_name, len(scale.values)),
        }
    except lexical.NoCutPoints as error:
        raise BadJudge(str(error)) from error


def _name_of(judge: Judge) -> str:
    """Return a name that tells what the judge is."""
    model = re.sub(r"[^\w-]+", "-", judge.model.rsplit("/", 1)[-1]).strip("-_")
    first = judge.engine if judge.engine in {*MEASURING, Judge.Engine.ENSEMBLE} else model
    return f"{first}-{judge.criterion_name}".lower().replace("_", "-")[:140]


def _as_published(judge: Judge) -> dict[str, Any]:
    """Return what an audit bundle shows of a judge, for whom `judging` is out of reach."""
    template = judge.template
    return {
        "engine": judge.engine,
        "model": judge.model,
        "task_type": judge.task_type,
        "criterion": judge.criterion_name,
        "scale_sha256": judge.scale.content_hash,
        "decoding": judge.decoding,
        "examples": judge.examples,
        "template": template
        and {
            "name": template.name,
            "version": template.version,
            "sha256": template.content_hash,
            "system_text": template.system_text,
            "text": template.text,
            "reply_with": template.reply_with,
            "replies": template.replies,
            "reply_rule": template.reply_rule,
            "orders": template.orders,
        },
    }
