"""A judge words a nugget for somebody in a workshop, within what the workshop's researcher may use."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from django.db.models import QuerySet
from django.utils.timezone import now

from collection.models import NuggetWording, Rater, User
from judging.engines import Engine, EngineUnavailable, Reply
from judging.engines.probe_store import room_of_thinking, store_learnt
from judging.engines.registry import engine_of
from judging.engines.token_quotas import check_quota, note_use, quota_for
from judging.grading.budget import budget_of, expected_use, within
from judging.models import Judge, TokenUse
from judging.prompts.refusals import is_refusal
from judging.trial_runs.engine_choice import seconds_for
from judging.trial_runs.run import replies_in_time
from judging.wordings.prompt import NAME, Highlighted, NoWords, request_of, words_in

logger = logging.getLogger(__name__)

State = NuggetWording.State
NOT_IN_TIME = "The judge did not reply within {:.0f} seconds."
REFUSED = "The judge declined: “{}”."
FAULT = "An internal error occurred ({}). See the worker’s log."


def judges_that_word() -> QuerySet[Rater]:
    """Return the judges on model servers: the others measure, or load their model in a worker of its own."""
    return Rater.objects.filter(judge__engine=Judge.Engine.OPENAI).order_by("name")


def work_on(pk: int, *, at: datetime, engine_for: Callable[[Judge], Engine] | None = None) -> None:
    """Ask the judge, unless somebody took it up before or nobody waits for it any more."""
    taken = NuggetWording.objects.filter(pk=pk, state=State.AT_WORK, begun_at=None)
    if not taken.filter(asked_at__gte=at - NuggetWording.PATIENCE).update(begun_at=at):
        return
    about = ("workshop_topic__topic", "workshop_topic__workshop__bank__collection__owner", "judge__judge")
    wording = NuggetWording.objects.select_related("passage", "report", *about).get(pk=pk)
    try:
        reply = _reply_to(wording, engine_for)
        words = words_in(reply.text)
    except (EngineUnavailable, NoWords) as refusal:
        _conclude(wording, State.FAILED, error=str(refusal))
    except Exception as fault:
        logger.exception("Wording %s could not be asked for.", pk)
        _conclude(wording, State.FAILED, error=FAULT.format(type(fault).__name__))
    else:
        _conclude(wording, State.DONE, words=words)


def _reply_to(wording: NuggetWording, engine_for: Callable[[Judge], Engine] | None) -> Reply:
    """Return the judge's reply, kept with the row. Raises EngineUnavailable and NoWords."""
    judge, payer = wording.judge.judge, _payer(wording)
    source = wording.passage or wording.report
    assert source is not None  # a_wording_has_one_source
    topic = wording.workshop_topic.topic
    request = request_of(Highlighted(topic.request, source.text or "", wording.start, wording.end))
    request = replace(request, thinks_for=room_of_thinking(judge))
    seconds = min(seconds_for(judge), NuggetWording.PATIENCE.total_seconds())
    check_quota(judge, payer, at=now())
    engine = engine_for(judge) if engine_for else engine_of(judge, by=payer, urgent=True)
    with budget_of(quota_for(judge, payer, at=now())) as budget:
        reply = replies_in_time(within(engine, budget), [request], seconds).get(request.item_id)
    expected = expected_use(request)
    # What comes too late is paid for all the same: it counts as what was expected of it.
    used = (
        (reply.prompt_tokens, reply.completion_tokens) if reply else (round(expected.prompts), round(expected.replies))
    )
    note_use(judge, payer, TokenUse.For.WORDING, [used], at=now())
    store_learnt(by=payer, at=now())
    if reply is None:
        raise NoWords(NOT_IN_TIME.format(seconds))
    NuggetWording.objects.filter(pk=wording.pk).update(
        reply=reply.text, model=(reply.identity or judge.model)[:300], prompt=NAME
    )
    if is_refusal(reply.text):
        raise NoWords(REFUSED.format(reply.text[:200]))
    if reply.ungraded or reply.finish_reason == "length":
        raise NoWords(reply.error or "The reply was cut off.")
    return reply


def _payer(wording: NuggetWording) -> User:
    workshop = wording.workshop_topic.workshop
    return workshop.made_by or workshop.bank.collection.owner


def _conclude(wording: NuggetWording, state: NuggetWording.State, *, words: str = "", error: str = "") -> None:
    at_work = NuggetWording.objects.filter(pk=wording.pk, state=State.AT_WORK)
    at_work.update(state=state, words=words, error=error, ended_at=now())
