"""Retrievals in the background: asked for, followed, stopped, and begun again where their worker is gone.

What was asked stands in the row. A retrieval that is begun again reads the passages again: that takes minutes at most.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import F
from django.utils.timezone import now
from kombu.exceptions import OperationalError as NoBroker

from collection.importing.background import memory_limit
from collection.models import Collection, Retrieval, User
from collection.retrieval.dense import check_server, rank_by_embeddings
from collection.retrieval.ranking import Advance, Ranked, check, keep_run, rank_by_bm25, with_texts
from collection.signs_of_life import heard_of
from collection.source_turns import AGAIN_SECONDS, turn_at
from stats.refusals import Refused

logger = logging.getLogger(__name__)

State, Method = Retrieval.State, Retrieval.Method
RANKED_BY: dict[str, Callable[[Collection, dict[str, Any], Advance], Ranked]] = {
    Method.BM25: rank_by_bm25,
    Method.DENSE: rank_by_embeddings,
}
# A worker that says nothing for so long is gone.
PATIENCE = timedelta(minutes=2)
SAYS_EVERY = 2.0
# One that ends its worker each time would end it for ever.
MOST_TIMES = 3
FAULT = "An error of the site stopped it ({}). See the worker’s log."
TOO_BIG = "It needs more than {:,} MB of memory (UPLOAD_MEMORY_MB). Use manage.py build retrieval."
LOST = "Its worker was lost three times. See the worker’s log."


class NotAtWork(Refused):
    """The retrieval is over."""


class GivenUp(Exception):
    """It was stopped, or another worker was asked."""


# --- Asking -------------------------------------------------------------------------------------


def start_retrieval(
    *, collection: Collection, user: User | None, method: str, options: dict[str, Any], at: datetime, here: bool = False
) -> Retrieval:
    """Have a worker make a run; `here`: make it in this process. Raises RunExists, NothingToRank, NoServer."""
    run = options["run"]
    check(collection, run, options["query"])
    if method == Method.DENSE:
        options = {**options, "model": check_server(options["model"])}
    told = {name: value for name, value in options.items() if name != "run"}
    retrieval = Retrieval.objects.create(
        collection=collection, user=user, method=method, run_name=run, options=told, asked_at=at, heard_of_at=at
    )
    if here or settings.WORK_AT_ONCE:
        work_on(pk=retrieval.pk, generation=retrieval.generation)
        retrieval.refresh_from_db()
    else:
        transaction.on_commit(lambda: _send(retrieval.pk, retrieval.generation))
    return retrieval


def stop_retrieval(retrieval: Retrieval, *, at: datetime) -> None:
    """Stop it: there will be no run. Raises NotAtWork."""
    mine = Retrieval.objects.at_work().filter(pk=retrieval.pk)
    if not mine.update(state=State.STOPPED, generation=F("generation") + 1, ended_at=at):
        raise NotAtWork("It is over.")


def has_stalled(retrieval: Retrieval, *, at: datetime) -> bool:
    """Whether a worker was asked and none says anything."""
    return retrieval.state == State.AT_WORK and not heard_of(retrieval.heard_of_at, at=at, patience=PATIENCE)


def ask_stalled_again(*, at: datetime, among: Iterable[Retrieval] | None = None) -> None:
    """Ask another worker where one is gone."""
    for retrieval in Retrieval.objects.at_work() if among is None else among:
        mine = Retrieval.objects.at_work().filter(pk=retrieval.pk, generation=retrieval.generation)
        if has_stalled(retrieval, at=at) and mine.update(generation=retrieval.generation + 1, heard_of_at=at):
            _send(retrieval.pk, retrieval.generation + 1)


def _send(pk: int, generation: int, *, wait: float = 0) -> None:
    try:
        current_app.send_task("collection.retrieve", args=[pk, generation], countdown=wait, retry=False)
    except NoBroker:
        logger.warning("The broker does not answer; retrieval %s waits until it does.", pk, exc_info=True)


# --- Working ------------------------------------------------------------------------------------


def work_on(*, pk: int, generation: int) -> None:
    """Make the run, unless it was stopped or asked of somebody else since."""
    mine = Retrieval.objects.at_work().filter(pk=pk, generation=generation)
    if not mine.update(n_begun=F("n_begun") + 1, n_done=0, heard_of_at=now()):
        return
    retrieval = mine.select_related("collection").get()
    try:
        _make(retrieval, mine)
    except GivenUp:
        logger.info("Retrieval %s was stopped, or given to another worker.", pk)
    except Refused as refused:
        _fail(mine, str(refused))
    except MemoryError:
        _fail(mine, TOO_BIG.format(settings.UPLOAD_MEMORY_MB))
    except Exception as fault:
        logger.exception("Retrieval %s failed.", pk)
        _fail(mine, FAULT.format(type(fault).__name__))


def work_within_limits(*, pk: int, generation: int) -> None:
    """Make the run in a worker, which has other things to do as well; one at a time asks the server of embeddings."""
    mine = Retrieval.objects.at_work().filter(pk=pk, generation=generation)
    asks_a_server = mine.filter(method=Method.DENSE).exists()
    with turn_at("embeddings") if asks_a_server else nullcontext(enter_result=True) as ours:
        if ours:
            with memory_limit(settings.UPLOAD_MEMORY_MB):
                work_on(pk=pk, generation=generation)
    if not ours and mine.update(heard_of_at=now()):
        _send(pk, generation, wait=AGAIN_SECONDS)


def _make(retrieval: Retrieval, mine: Any) -> None:
    if retrieval.n_begun > MOST_TIMES:
        raise Refused(LOST)
    n = with_texts(retrieval.collection).count()
    mine.update(n_all=n)
    ranked = RANKED_BY[retrieval.method](retrieval.collection, retrieval.options, _Heart(mine).advance)
    with transaction.atomic():
        run = keep_run(retrieval, ranked, system=retrieval.options.get("system", ""), at=now())
        if not mine.update(state=State.DONE, run=run, outcome=ranked.counts, n_done=n, ended_at=now()):
            raise GivenUp


def _fail(mine: Any, problem: str) -> None:
    mine.update(state=State.FAILED, problem=problem, ended_at=now())


class _Heart:
    """Says from time to time how far it is, and looks whether it is wanted still."""

    def __init__(self, mine: Any) -> None:
        self.mine = mine
        self.n_done = 0
        self.said_at = time.monotonic()

    def advance(self, n: int) -> None:
        """Count so many passages. Raises GivenUp."""
        self.n_done += n
        if time.monotonic() - self.said_at < SAYS_EVERY:
            return
        self.said_at = time.monotonic()
        with suppress(OperationalError):  # an import may hold SQLite; the next look is in two seconds
            if not self.mine.update(n_done=self.n_done, heard_of_at=now()):
                raise GivenUp
