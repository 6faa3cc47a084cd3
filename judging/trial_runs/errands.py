"""Trial runs and probes take most of a minute: a worker does them, and the page or the client asks how far it is.

What was asked stands in the Errand's row. Whoever looks on writes nothing: from the sign of life that the worker gives
in a file follows whether it is gone. Nobody else is sent then, for replies may cost tokens: the researcher asks anew.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils.timezone import now
from kombu.exceptions import OperationalError

from collection.models import Criterion, Item, Study, User
from collection.signs_of_life import LONG_PATIENCE, PATIENCE, Beat, heard_of
from judging.engines import EngineUnavailable, Reply
from judging.engines.openai import NO_SERVER
from judging.engines.probe_store import probe_judge
from judging.engines.servers import serving
from judging.engines.token_quotas import check_quota
from judging.models import Errand, Judge
from judging.prompts.pairwise import read_all
from judging.prompts.placeholders import BadTemplate
from judging.prompts.rendering import request_for
from judging.trial_runs.engine_choice import refuse_elsewhere, try_out
from judging.trial_runs.run import TrialRun, draw_items

logger = logging.getLogger(__name__)

Kind, State = Errand.Kind, Errand.State
KEPT = timedelta(days=1)
# What no worker took up in so long is not done any more: whoever asked has gone, or has asked anew.
GIVEN_UP = timedelta(minutes=10)
BUSY = "Your {} is still running; each researcher may have one trial run or probe at a time."
NO_BROKER = "The broker does not answer, so no worker can be reached. Try again later."
NOBODY_YET = "No worker has started yet: none is running, or all are busy."
NOBODY = "No worker started within ten minutes. Try again when a worker is running."
LOST = "The worker stopped, and its results are lost. Try again."
FAULT = "An internal error occurred ({}). See the worker’s log."


class Busy(EngineUnavailable):
    """The researcher's earlier errand is under way."""


# --- Asking -------------------------------------------------------------------------------------


def ask_for_trial(judge: Judge, criterion: Criterion, *, seed: int, by: User, at: datetime) -> Errand:
    """Have a worker try the judge on five items. Raises Busy, NoTrialHere and QuotaSpent."""
    refuse_elsewhere(judge)
    return _ask(Errand(kind=Kind.TRIAL, judge=judge, criterion=criterion, seed=seed, user=by, asked_at=at))


def ask_for_probe(judge: Judge, *, by: User, at: datetime) -> Errand:
    """Have a worker try out the judge's servers. Raises Busy, QuotaSpent, and EngineUnavailable if there are none."""
    if not serving(judge.model, by):
        raise EngineUnavailable(NO_SERVER)
    return _ask(Errand(kind=Kind.PROBE, judge=judge, user=by, asked_at=at))


def _ask(errand: Errand) -> Errand:
    at = errand.asked_at
    check_quota(errand.judge, errand.user, at=at)
    for earlier in Errand.objects.filter(user=errand.user, state=State.AT_WORK).select_related("judge"):
        if as_it_stands(earlier, at=at).is_at_work:
            raise Busy(BUSY.format(f"{earlier.get_kind_display()} of “{earlier.judge}”"))
    Errand.objects.filter(asked_at__lt=at - KEPT).delete()
    errand.save()
    if settings.WORK_AT_ONCE:
        work_on(errand.pk, at=at)
        errand.refresh_from_db()
    else:
        transaction.on_commit(lambda: _send(errand))
    return errand


def _send(errand: Errand) -> None:
    try:
        current_app.send_task("judging.work_on_errand", args=[errand.pk], retry=False)
    except OperationalError:
        logger.warning("The broker does not answer; errand %s is not done.", errand.pk, exc_info=True)
        _conclude(errand, State.FAILED, error=NO_BROKER)


# --- Looking ------------------------------------------------------------------------------------


def errand_of(user: User, pk: int, *, at: datetime) -> Errand | None:
    """Return the user's errand as it stands; None if there is none that they may see still."""
    errand = _whole().filter(pk=pk, user=user).first()
    if errand is None or not _may_see(errand, user):
        return None
    return as_it_stands(errand, at=at)


def latest_probe(judge: Judge, user: User, *, at: datetime) -> Errand | None:
    """Return what the user last asked about the judge's servers, as it stands."""
    errand = Errand.objects.filter(kind=Kind.PROBE, judge=judge, user=user).first()
    return errand and as_it_stands(errand, at=at)


def as_it_stands(errand: Errand, *, at: datetime) -> Errand:
    """Return the errand, failed if its worker is gone or none came, with what is to be said. Nothing is written."""
    if not errand.is_at_work:
        return errand
    if errand.begun_at is None:
        waited = at - errand.asked_at
        if waited > GIVEN_UP:
            errand.state, errand.error = State.FAILED, NOBODY
        elif waited > LONG_PATIENCE:
            errand.error = NOBODY_YET
    elif not heard_of(Beat(errand.sign_of_life).last_sign() or errand.begun_at, at=at, patience=PATIENCE):
        errand.refresh_from_db(fields=["state", "result", "error", "ended_at"])  # it may just have ended
        if errand.is_at_work:
            errand.state, errand.error = State.FAILED, LOST
    return errand


def trials_of(errand: Errand) -> list[TrialRun]:
    """Return what came of a trial run that is done, item by item; what was deleted since is left out."""
    rows = errand.result or []
    items = Item.objects.select_related("topic", "element", "passage", "report", "other_report", "sentence").in_bulk(
        [row["item"] for row in rows]
    )
    trials = []
    for row in rows:
        if item := items.get(row["item"]):
            request, reply = request_for(errand.judge, item), _reply_from(row["reply"])
            reading = read_all(request, reply)[0] if reply else None
            trials.append(TrialRun(item, request, row["people"], reply, reading))
    return trials


def _reply_from(stored: dict[str, Any] | None) -> Reply | None:
    return None if stored is None else Reply(**stored | {"swapped": _reply_from(stored["swapped"])})


def _may_see(errand: Errand, user: User) -> bool:
    return errand.criterion is None or Study.objects.read_by(user).filter(pk=errand.criterion.study_id).exists()


def _whole() -> Any:
    return Errand.objects.select_related(
        "user", "criterion__study__collection", "criterion__scale",
        "judge__rater", "judge__template", "judge__scale", "judge__examples_from",
    )  # fmt: skip


# --- Working ------------------------------------------------------------------------------------


def work_on(pk: int, *, at: datetime) -> None:
    """Do the errand, unless it ended, or somebody took it up before."""
    errand = _whole().filter(pk=pk, state=State.AT_WORK).first()
    if errand is None:
        return
    if not as_it_stands(errand, at=at).is_at_work:
        _conclude(errand, State.FAILED, error=errand.error)
        return
    if not Errand.objects.filter(pk=pk, state=State.AT_WORK, begun_at=None).update(begun_at=at):
        return
    with Beat(errand.sign_of_life):
        try:
            result = _come_of(errand)
        except (EngineUnavailable, BadTemplate) as refusal:
            _conclude(errand, State.FAILED, error=str(refusal))
        except Exception as fault:
            logger.exception("Errand %s could not be done.", pk)
            _conclude(errand, State.FAILED, error=FAULT.format(type(fault).__name__))
        else:
            _conclude(errand, State.DONE, result=result)


def _come_of(errand: Errand) -> list[dict[str, Any]] | None:
    """Return what a trial run brought. What a probe found is stored with the judge's servers."""
    if errand.criterion is None:
        probe_judge(errand.judge, by=errand.user, at=now())
        return None
    drawn = draw_items(errand.criterion, seed=errand.seed or 0)
    trials = try_out(errand.judge, drawn, by=errand.user)
    return [
        {
            "item": trial.item.pk,
            "people": trial.grades_of_people,
            "reply": asdict(trial.reply) if trial.reply is not None else None,
        }
        for trial in trials
    ]


def _conclude(errand: Errand, state: Errand.State, *, result: Any = None, error: str = "") -> None:
    at_work = Errand.objects.filter(pk=errand.pk, state=State.AT_WORK)
    at_work.update(state=state, result=result, error=error, ended_at=now())
