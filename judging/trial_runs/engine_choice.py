"""Trial runs of any judge, in whatever process asks for one: which engine it gets there, or why it gets none."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.utils.timezone import now

from collection.models import Criterion, Item, Study, User
from judging.data.selection import items_asked, without_text
from judging.engines import Engine, EngineUnavailable, GradeRequest, lexical
from judging.engines.embedded import EmbeddedEngine, EmbeddedServer
from judging.engines.probe_store import change_attribute, room_of_thinking, store_learnt
from judging.engines.registry import engine_of
from judging.engines.servers import serving
from judging.engines.token_quotas import check_quota, note_use
from judging.grading.budget import expected_use
from judging.models import Judge, TokenUse
from judging.prompts.rendering import ANSWER_IS_THE_QUERY, request_for
from judging.trial_runs.run import SECONDS, THINKING_SECONDS, TrialItems, TrialRun, run_trial

# The embedded model of a trial run is a process of its own, gone when the run is over: one at a time.
_embedded = threading.Lock()


class NoTrialHere(EngineUnavailable):
    """This judge can be tried, but not in this process; the message says where."""


@dataclass(frozen=True)
class Seen:
    """What a judge gets to see of an item: a prompt, or for a judge that measures a question and a text."""

    item: Item
    request: GradeRequest
    judge: Judge

    @property
    def measures(self) -> bool:
        return not self.request.prompt

    @property
    def measured(self) -> str:
        """What the lexical baseline measures, in words."""
        return lexical.IN_WORDS[self.judge.decoding["method"]]

    @property
    def looked_for(self) -> str:
        """What stands in the request's `query`."""
        return "Answer" if self.judge.criterion_name in ANSWER_IS_THE_QUERY else "Question"

    @property
    def wordless(self) -> bool:
        """Whether the prompt names bare numbers as grades."""
        return self.judge.wordless


def criterion_to_try(judge: Judge, study: Study) -> Criterion | None:
    """Return the study's criterion that the judge fits, the one that it was made for before others."""
    fitting = study.criteria.select_related("scale", "study").filter(task_type=judge.task_type, scale=judge.scale_id)
    if judge.examples_from and judge.examples_from.collection_id != study.collection_id:
        return None
    return fitting.filter(name=judge.criterion_name).first() or fitting.first()


def seen_by(judge: Judge, criterion: Criterion, *, item: str = "", after: str = "") -> Seen | None:
    """Return what the judge gets to see of this item, or of the one after that key; None if no text is here.

    Raises BadTemplate.
    """
    asked = items_asked(criterion)
    asked = asked.exclude(pk__in=without_text(asked).values("pk")).order_by("pk")
    asked = asked.select_related("topic", "element", "passage", "report", "other_report", "sentence")
    if item:
        chosen = asked.filter(item_id=item).first()
    else:
        later = asked.filter(pk__gt=int(after)) if after.isdecimal() and len(after) < 19 else asked
        chosen = later.first() or asked.first()
    return None if chosen is None else Seen(chosen, request_for(judge, chosen), judge)


def try_out(
    judge: Judge, drawn: TrialItems, *, by: User | None, seconds: float | None = None, with_vllm: bool = False
) -> list[TrialRun]:
    """Let the judge grade these items beside people, for so long. Only the tokens that it took are stored.

    Raises EngineUnavailable, BadTemplate, QuotaSpent, and NoTrialHere for what needs another process: vLLM in a
    worker, unless `with_vllm` says that it may be loaded into this one.
    """
    seconds = seconds_for(judge) if seconds is None else seconds
    check_quota(judge, by, at=now())
    with engine_to_try(judge, by=by, with_vllm=with_vllm) as engine:
        trials = run_trial(judge=judge, drawn=drawn, engine_for=lambda _: engine, seconds=seconds)
    store_learnt(by=by, at=now())
    _accept_names(judge, trials, by)
    # What comes too late is paid for all the same: it counts as what was expected of it.
    note_use(judge, by, TokenUse.For.TRIAL, map(_tokens_of, trials), at=now())
    return trials


def seconds_for(judge: Judge) -> float:
    """Return how long a trial run of the judge may take: thinking takes its time."""
    return THINKING_SECONDS if room_of_thinking(judge) else SECONDS


def refuse_elsewhere(judge: Judge, *, with_vllm: bool = False) -> None:
    """Raise NoTrialHere for a judge that cannot be tried by the workers that do trial runs."""
    if judge.engine == Judge.Engine.ENSEMBLE:
        raise NoTrialHere("An ensemble asks no model: run its members, and combine them.")
    if judge.queue and not with_vllm:
        raise NoTrialHere(
            "This judge grades with a model inside a worker, and workers for trial runs have no model loaded. Where "
            f"it is installed, manage.py judge trial {judge.name} does the same; or start a job on a sample of five "
            "items, whose grades are stored."
        )


@contextmanager
def engine_to_try(judge: Judge, *, by: User | None, with_vllm: bool = False) -> Iterator[Engine]:
    """Give an engine for a trial run, and put away what was started for it."""
    refuse_elsewhere(judge, with_vllm=with_vllm)
    engine = engine_of(judge, by=by, any_name=True, urgent=True)
    if not isinstance(engine, EmbeddedEngine):
        yield engine
        return
    if not _embedded.acquire(timeout=SECONDS):
        raise EngineUnavailable("The embedded model is busy with another trial run. Try again in a minute.")
    server = EmbeddedServer()
    settings: dict[str, Any] = {
        "cuts": engine.cuts,
        "prompt": engine.prompt,
        "prior_prompt": engine.prior_prompt,
        "prior_weight": engine.prior_weight,
    }
    try:
        yield EmbeddedEngine(**settings, server=server)
    finally:
        server.stop()
        _embedded.release()


def _accept_names(judge: Judge, trials: Iterable[TrialRun], by: User | None) -> None:
    """Note under which other names the model replied: the page of the trial run shows them.

    What replied at somebody's own server is noted with that server: it says nothing of the servers of others.
    """
    replies = [trial.reply for trial in trials if trial.reply is not None]
    names = {each.answered_as for reply in replies for each in (reply, reply.swapped) if each is not None} - {""}
    servers = serving(judge.model, by) if names else []
    if own := {server.pk for server in servers if server.owner_id}:
        if names - judge.names_at(own):
            change_attribute(
                judge,
                "answers_as_at",
                lambda known: (known or {}) | {name: sorted({*(known or {}).get(name, ()), *own}) for name in names},
            )
    elif names - judge.names_at(()):
        seen = dict.fromkeys(names, now().isoformat())
        change_attribute(judge, "answers_as", lambda known: seen | (known or {}))


def _tokens_of(trial: TrialRun) -> tuple[int | None, int | None]:
    if trial.reply is not None:
        return trial.reply.prompt_tokens, trial.reply.completion_tokens
    expected = expected_use(trial.request)
    return round(expected.prompts), round(expected.replies)
