"""The calls of a build: which are missing, and what comes of their replies. Each is planned once and finished once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet

from collection.http import storable
from collection.models import Judgment, Topic
from judging.building.pipelines import Ask, Done, Key, Options, Pipeline, Step, TopicInputs, View, mark_of
from judging.building.prompt_files import StepPrompt
from judging.building.reply_parsing import Fault, Parsed, Row, with_probabilities
from judging.building.shipped import PIPELINES
from judging.building.sources import inputs_of
from judging.engines import GradeRequest, Reply, Sampling
from judging.models import Build, GenerationCall, Product
from judging.prompts.refusals import is_refusal

TOPICS_AT_ONCE = 200
# The engine failed: there is no reply, so whoever asks again repeats nothing.
NO_REPLY = "engine_error"
READS_AS_REFUSAL = "reads_as_refusal"


class Received(NamedTuple):
    """A reply on its way to the tables."""

    call: int
    reply: Reply


def pipeline_of(build: Build) -> Pipeline:
    return PIPELINES[build.pipeline]


def step_of(build: Build) -> Step:
    return pipeline_of(build).steps[build.step]


def options_of(build: Build) -> Options:
    known = {one.name for one in fields(Options)}
    return Options(**{name: value for name, value in build.options.items() if name in known and value is not None})


def topics_of(build: Build) -> list[Topic]:
    return list(Topic.objects.filter(pk__in=build.options["topics"]).order_by("pk"))


def inputs_for(build: Build, topics: Iterable[Topic]) -> dict[int, TopicInputs]:
    said = build.options
    texts = {name: said[name] for name in ("summaries", "documents", "depth")}
    return inputs_of(topics, options_of(build), **texts)


def views_of(build: Build, topics: Sequence[Topic], step: int | None = None) -> dict[int, View]:
    """Return what the step, or the one that is worked on, may look at of each topic."""
    number = build.step if step is None else step
    steps = pipeline_of(build).steps
    inputs, options = inputs_for(build, topics), options_of(build)
    done = done_of(build, steps[number].name, topics)
    earlier = done_of(build, steps[number - 1].name, topics) if number and steps[number].reads_calls else {}
    before: dict[int, list[Row]] = defaultdict(list)
    if number:
        for product in counting(build, steps[number - 1].name).filter(topic__in=topics):
            before[product.topic_id].append(Row(product.text, product.data))
    whole = whole_build(build, steps[number])
    return {
        topic.pk: View(
            inputs[topic.pk],
            options,
            done.get(topic.pk, ()),
            tuple(before[topic.pk]),
            earlier.get(topic.pk, ()),
            **whole,
        )
        for topic in topics
    }


def whole_build(build: Build, step: Step) -> dict[str, Any]:
    """Return what a step that reads the whole build sees of it besides one topic; nothing for others."""
    if not step.reads_build:
        return {}
    topics = topics_of(build)
    return {
        "everywhere": {topic.pk: topic.attributes for topic in topics},
        "done_everywhere": done_of(build, step.name, topics) if build.pk else {},
        "filled": build.options.get("filled", {}),
    }


def done_of(build: Build, step: str, topics: Sequence[Topic]) -> dict[int, tuple[Done, ...]]:
    """Return the step’s calls that have a reply, by topic, in the order in which they were planned."""
    done: dict[int, list[Done]] = defaultdict(list)
    calls = build.calls.filter(step=step, topic__in=topics, set_aside=False, finished_at__isnull=False)
    for topic, key, rows, faults in calls.order_by("pk").values_list("topic_id", "key", "rows", "faults"):
        kinds = [fault["kind"] for fault in faults]
        if NO_REPLY not in kinds:
            details = tuple(fault["detail"] for fault in faults)
            kept = () if READS_AS_REFUSAL in kinds else tuple(Row(**row) for row in rows)
            done[topic].append(Done(key, kept, tuple(kinds), details))
    return {topic: tuple(calls) for topic, calls in done.items()}


def counting(build: Build, step: str) -> Any:
    """Return the step's products that count for the next one: without a review between, all that are not rejected."""
    products = build.products.filter(step=step, call__set_aside=False).order_by("topic_id", "call_id", "position")
    if build.reviews_steps:
        return products.filter(state__in=Product.COUNTS)
    return products.exclude(state=Product.State.REJECTED)


# --- Planning -------------------------------------------------------------------------------------


def plan(build: Build, topics: Sequence[Topic], *, at: datetime) -> int:
    """Store the calls that the step wants of these topics and are not there. Returns how many are new, or revived.

    A call that was set aside and is wanted again, prompt and sampling the same, keeps its reply: it is not repeated.
    """
    step = step_of(build)
    new = 0
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        views = views_of(build, topics[start : start + TOPICS_AT_ONCE])
        asks = [(topic, ask) for topic, view in views.items() for ask in step.wants(view)]
        wanted = {call.inputs_hash: (call, ask) for topic, ask in asks if (call := call_for(build, step, topic, ask))}
        of_step = build.calls.filter(step=step.name)
        known = set(of_step.filter(inputs_hash__in=wanted).values_list("inputs_hash", flat=True))
        new += of_step.filter(inputs_hash__in=wanted, set_aside=True).update(set_aside=False)
        missing = [both for inputs_hash, both in wanted.items() if inputs_hash not in known]
        asked = [_bound(build, step, call, ask) for call, ask in missing if call.sampling]
        _store_given([call for call, _ in missing if not call.sampling], at=at)
        GenerationCall.objects.bulk_create(asked, ignore_conflicts=True)
        new += len(missing)
    return new


def _store_given(calls: Sequence[GenerationCall], *, at: datetime) -> None:
    """Store what no model was asked for, with its products. The build is locked by who plans."""
    for call in calls:
        call.finished_at = at
    GenerationCall.objects.bulk_create(calls)
    Product.objects.bulk_create(
        product for call in calls for product in _products(call, [Row(**row) for row in call.rows])
    )


def call_for(build: Build, step: Step, topic: int, ask: Ask) -> GenerationCall:
    """Return the call, not stored, with the hash over all that shapes its reply."""
    if ask.given is not None:
        return _given(build, step, topic, ask.key, ask.given)
    prompt = StepPrompt.from_stored(build.prompts[step.slot(ask.prompt)])
    system, text = prompt.filled({**ask.values, "mark": mark_of(ask.values)})
    attempt = int(ask.key.get("attempt", 1))
    sampling = asdict(step.sampling(options_of(build), seed=build.seed + attempt - 1))
    del sampling["grammar"]  # follows from the rest
    sampling |= {"choices": step.choices} if step.choices else {"reply_tokens": options_of(build).reply_tokens}
    shaping = [topic, dict(ask.key), system, text, sampling, build.engine, build.model]
    return GenerationCall(
        build=build,
        step=step.name,
        topic_id=topic,
        inputs_hash=_hash_of(shaping),
        key=dict(ask.key),
        kind=ask.prompt,
        system=storable(system),
        prompt=storable(text),
        sampling=json.loads(json.dumps(sampling)),
    )


def _bound(build: Build, step: Step, call: GenerationCall, ask: Ask) -> GenerationCall:
    """Bind the call to the form of its replies. Whoever brings a prompt may ask for another form: that is not bound."""
    name = step.slot(ask.prompt)
    if ask.form and step.slots[name].prompt().content_hash == build.prompts[name]["hash"] and (form := ask.form()):
        call.sampling["grammar"] = form
    return call


def _given(build: Build, step: Step, topic: int, key: Key, given: Parsed) -> GenerationCall:
    rows = [row.as_stored() for row in given.rows]
    return GenerationCall(
        build=build,
        step=step.name,
        topic_id=topic,
        inputs_hash=_hash_of([topic, dict(key), rows]),
        key=dict(key),
        rows=rows,
        faults=[fault.as_stored() for fault in given.faults],
    )


def _hash_of(shaping: Sequence[Any]) -> str:
    canonical = json.dumps(shaping, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def request_of(call: GenerationCall) -> GradeRequest:
    """Return the call as an engine sees it."""
    drawn = dict(call.sampling)
    reply_tokens, choices = drawn.pop("reply_tokens", None), tuple(drawn.pop("choices", ()))
    sampling = Sampling(**drawn | {"stop": tuple(drawn["stop"])})
    return GradeRequest(
        call.pk, choices, "", "", prompt=call.prompt, system=call.system, reply_tokens=reply_tokens, sampling=sampling
    )


def unfinished(build: Build) -> QuerySet[GenerationCall]:
    """Return the calls of the step that have no reply."""
    return GenerationCall.objects.filter(build=build, step=step_of(build).name, set_aside=False, finished_at=None)


# --- Replies --------------------------------------------------------------------------------------


@transaction.atomic
def store_replies(build: Build, received: Sequence[Received], *, at: datetime) -> int:
    """Finish these calls, store what they brought, and plan what follows. Returns how many were not finished before.

    All of it or nothing: a worker that is killed in the middle leaves calls that are unfinished, and no half of one.
    """
    locked = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
    replies = {one.call: one.reply for one in received}
    calls = list(GenerationCall.objects.filter(pk__in=replies, finished_at=None).select_related("topic"))
    by_step: dict[str, list[GenerationCall]] = defaultdict(list)
    for call in calls:
        by_step[call.step].append(call)
    for name, of_step in by_step.items():
        _finish(locked, name, of_step, replies, at=at)
    counted: dict[str, Any] = {
        "n_calls": F("n_calls") + len(calls),
        "prompt_tokens": F("prompt_tokens") + sum(replies[call.pk].prompt_tokens or 0 for call in calls),
        "completion_tokens": F("completion_tokens") + sum(replies[call.pk].completion_tokens or 0 for call in calls),
    }
    if any(replies[call.pk].ungraded != Judgment.Ungraded.ENGINE_ERROR for call in calls):
        counted["replied_at"] = at
    Build.objects.filter(pk=build.pk).update(heartbeat_at=at, **counted)
    if current := by_step.get(step_of(locked).name):
        touched = list({call.topic_id: call.topic for call in current}.values())
        plan(locked, topics_of(locked) if step_of(locked).reads_build else touched, at=at)
    return len(calls)


def _finish(
    build: Build, name: str, calls: Sequence[GenerationCall], replies: Mapping[int, Reply], *, at: datetime
) -> None:
    pipeline = pipeline_of(build)
    number = [step.name for step in pipeline.steps].index(name)
    step = pipeline.steps[number]
    views = views_of(build, list({call.topic_id: call.topic for call in calls}.values()), number)
    products: list[Product] = []
    for call in calls:
        reply, view = replies[call.pk], views[call.topic_id]
        parsed = parsed_reply(reply, partial(_read, step, call, view))
        call.reply, call.finish_reason = said_in(reply), reply.finish_reason
        call.rows = [row.as_stored() for row in parsed.rows]
        call.faults = [fault.as_stored() for fault in parsed.faults]
        call.prompt_tokens, call.completion_tokens = reply.prompt_tokens, reply.completion_tokens
        call.seconds, call.engine_identity = reply.seconds, reply.identity
        call.finished_at = at
        if step.keeps(call.key, parsed, view):
            products += _products(call, parsed.rows)
    changed = (
        "reply", "finish_reason", "rows", "faults", "prompt_tokens", "completion_tokens", "seconds",
        "engine_identity", "finished_at",
    )  # fmt: skip
    for call in calls:  # a statement each: one for all is ten times as slow to put together
        GenerationCall.objects.filter(pk=call.pk).update(**{field: getattr(call, field) for field in changed})
    Product.objects.bulk_create(products)


def _products(call: GenerationCall, rows: Sequence[Row]) -> list[Product]:
    """Return what these rows of a call are to be reviewed as, not stored.

    Those of a refusal begin as rejected; who reviews them may accept them all the same.
    """
    is_refused = any(fault["kind"] == READS_AS_REFUSAL for fault in call.faults)
    state = Product.State.REJECTED if is_refused else Product.State.PROPOSED
    return [
        Product(
            build_id=call.build_id, call=call, step=call.step, topic_id=call.topic_id, position=place, raw=row.text,
            text=row.text, data=dict(row.data), state=state,
        )
        for place, row in enumerate(rows)
    ]  # fmt: skip


def _read(step: Step, call: GenerationCall, view: View, text: str) -> Parsed:
    return step.reads(text, call.key, view)


def said_in(reply: Reply) -> str:
    """Return what the model said, as it is stored and read: a choice with its log-probabilities under it."""
    text = storable(reply.text)
    return with_probabilities(text, reply.log_probabilities) if reply.log_probabilities else text


def parsed_reply(reply: Reply, read: Callable[[str], Parsed]) -> Parsed:
    """Read a reply, and add what the engine says is wrong with it.

    A reply that never came is read as an empty one: a round of a chain then keeps what it had.
    """
    if reply.ungraded == Judgment.Ungraded.ENGINE_ERROR:
        return Parsed(faults=(Fault(NO_REPLY, reply.error),))
    if reply.ungraded:
        kind = "refused" if reply.ungraded == Judgment.Ungraded.REFUSED else "too_long"
        empty = read("")
        return Parsed(
            empty.rows, (Fault(kind, reply.error), *(one for one in empty.faults if one.kind != "unreadable"))
        )
    parsed = read(said_in(reply))
    if is_refusal(reply.text):
        return Parsed(parsed.rows, (Fault(READS_AS_REFUSAL, reply.text), *parsed.faults))
    if reply.finish_reason == "length":
        return Parsed(parsed.rows, (Fault("truncated"), *parsed.faults))
    return parsed
