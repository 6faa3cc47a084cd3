"""Requests to Prolific, carried out: stored before they are sent, so that a second click sends nothing twice."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils.timezone import now

from annotate.crowd import prolific
from annotate.crowd.returns import StatusesRead, take_statuses
from annotate.models import CrowdEntry, CrowdSession, SiteRequest
from annotate.prolific.plans import (
    Kind,
    NotAsPlanned,
    Plan,
    internal_name,
    plan_of,
    reason_to_return,
    study_at_the_site,
)
from annotate.prolific.remote import NoAnswer, ProlificApi, ProlificRefused
from annotate.prolific.tokens import token_of
from collection.formats.problems import BrokenLine
from collection.models import User
from stats.plurals import counted

State = SiteRequest.State


class NotDone(Exception):
    """Prolific refused, or did not answer. The message tells which, and what to do."""


class AlreadySettled(Exception):
    """This payment's end is known."""


@dataclass
class Outcome:
    """How a request ended, in words; `problems` are those of single people."""

    said: str
    problems: list[str] = field(default_factory=list)


def carry_out(
    *,
    entry: CrowdEntry,
    kind: str,
    digest: str,
    by: User,
    at: datetime,
    places: int | None = None,
    url: str = "",
    chosen: Collection[int] | None = None,
) -> Outcome:
    """Send the request that a plan with this digest showed. Raises NoToken, NotAsPlanned and NotDone.

    `chosen` are the sessions to approve, of those that it showed; without it those that have no flag.
    """
    api = ProlificApi(token_of(by))
    with transaction.atomic():
        entry = CrowdEntry.objects.select_for_update(of=("self",)).select_related("study").get(pk=entry.pk)
        plan = plan_of(entry, kind, by=by, places=places, url=url)
        if plan.refusal:
            raise NotAsPlanned(plan.refusal)
        if plan.digest != digest:
            raise NotAsPlanned("This has changed since it was shown. Nothing was sent: look at it again.")
        if plan.kind == Kind.APPROVALS:
            plan = plan.of(plan.ticked if chosen is None else chosen)
            if not plan.sessions:
                raise NotAsPlanned("Nobody is chosen: everybody who waits has a flag, or is not ticked.")
        request = SiteRequest.objects.create(
            entry=entry,
            kind=plan.kind,
            amounts={str(pk): str(amount) for pk, amount in plan.amounts.items()},
            cost=plan.cost,
            asked_by=by,
            asked_at=at,
        )
    try:
        return _SENDERS[plan.kind](api, request, plan)
    except ProlificRefused as refused:
        _answer(request, State.FAILED, str(refused))
        raise NotDone(f"Nothing was done. {refused}") from refused
    except NoAnswer as unknown:
        is_open = plan.kind == Kind.TOP_UPS and request.remote_id
        _answer(request, State.UNKNOWN if is_open else State.FAILED, str(unknown))
        raise NotDone(f"{unknown} {_remedy(plan.kind, is_open=bool(is_open))}") from unknown


def _remedy(kind: Kind, *, is_open: bool) -> str:
    if is_open:
        return "Look on Prolific whether the bonuses were paid, and say so below. Until then none are paid again."
    return "Nobody was paid. Try again." if kind == Kind.TOP_UPS else "Try again: nothing is done twice."


# --- One for each kind ------------------------------------------------------------------------------


def _create_study(api: ProlificApi, request: SiteRequest, plan: Plan) -> Outcome:
    """Create the draft; one that an earlier try left on Prolific, without an answer to it, is that draft."""
    entry = request.entry
    study_id = api.find_study(internal_name(entry)) or api.create_study(plan.body)
    with transaction.atomic():
        CrowdEntry.objects.filter(pk=entry.pk).update(site_study_id=study_id)
        _answer(request, State.DONE, remote_id=study_id)
    return Outcome("The draft is on Prolific. Look at it there, choose who may take part, and publish it.")


def _set_places(api: ProlificApi, request: SiteRequest, plan: Plan) -> Outcome:
    places = plan.body["total_available_places"]
    api.set_places(plan.cohort, places)
    with transaction.atomic():
        CrowdEntry.objects.filter(pk=request.entry_id).update(most_people=places)
        _answer(request, State.DONE, remote_id=plan.cohort)
    return Outcome(f"There are {places} places now, on Prolific and here.")


def _approve(api: ProlificApi, request: SiteRequest, plan: Plan) -> Outcome:
    api.approve([session.session_id for session in plan.sessions.values()])
    _answer(request, State.DONE)
    return Outcome(f"{counted(len(plan.sessions), 'submissions')} sent for approval. Prolific takes some minutes.")


def _pay_top_ups(api: ProlificApi, request: SiteRequest, plan: Plan) -> Outcome:
    """Set the bonuses up, compare what they come to, and pay them once."""
    amounts = {session.session_id: plan.amounts[pk] for pk, session in plan.sessions.items()}
    remote_id, total = api.set_up_bonuses(plan.cohort, amounts)
    if total != plan.cost:
        raise ProlificRefused(f"Prolific would pay {total} and not {plan.cost}, so the payment was not sent.")
    request.remote_id = remote_id
    request.save(update_fields=["remote_id"])  # before the money goes: from here on only an answer says where it is
    api.pay_bonuses(remote_id)
    settle(request=request, was_paid=True, at=now())
    return Outcome(f"{counted(len(amounts), 'top-ups')} paid: {request.entry.currency} {plan.cost}, and fees.")


def _ask_for_returns(api: ProlificApi, request: SiteRequest, plan: Plan) -> Outcome:
    """Ask one by one. Whom Prolific refuses is named; where no answer comes the rest is left for another time."""
    asked: dict[str, str] = {}
    problems = []
    for pk, session in plan.sessions.items():
        try:
            api.request_return(session.session_id, reason_to_return(session))
            asked[str(pk)] = "0"
        except ProlificRefused as refused:
            problems.append(f"{session.participant}: {_without_ids(str(refused), session)}")
        except NoAnswer as unknown:
            problems.append(f"{session.participant}: {unknown} The rest was not sent. Try again.")
            break
    request.amounts = asked
    request.save(update_fields=["amounts"])
    _answer(request, State.DONE if asked else State.FAILED, " ".join(problems))
    return Outcome(f"{counted(len(asked), 'people')} asked to return their submission.", problems)


def _without_ids(said: str, session: CrowdSession) -> str:
    return said.replace(session.session_id, "the submission")


_SENDERS = {
    Kind.STUDY: _create_study,
    Kind.PLACES: _set_places,
    Kind.APPROVALS: _approve,
    Kind.TOP_UPS: _pay_top_ups,
    Kind.RETURNS: _ask_for_returns,
}


def _answer(request: SiteRequest, state: State, said: str = "", remote_id: str = "") -> None:
    for session in CrowdSession.objects.filter(pk__in=[int(pk) for pk in request.amounts]):
        said = _without_ids(said, session)  # what stays here names nobody
    request.state, request.said, request.answered_at = state, said, now()
    request.remote_id = request.remote_id or remote_id
    request.save(update_fields=["state", "said", "answered_at", "remote_id"])


# --- Afterwards -------------------------------------------------------------------------------------


@transaction.atomic
def settle(*, request: SiteRequest, was_paid: bool, at: datetime) -> None:
    """Count a payment's top-ups as paid, or as not paid, where no answer said which. Raises AlreadySettled."""
    stored = SiteRequest.objects.select_for_update(of=("self",)).get(pk=request.pk)
    if not stored.is_open_payment:
        raise AlreadySettled("It is known already how this payment ended.")
    stored.state, stored.answered_at = (State.DONE if was_paid else State.FAILED), at
    stored.save(update_fields=["state", "answered_at"])
    if was_paid:
        for pk, amount in stored.amounts.items():
            CrowdSession.objects.filter(pk=int(pk)).update(bonus=F("bonus") + Decimal(amount))
    request.state = stored.state


def fetch_statuses(*, entry: CrowdEntry, by: User, at: datetime) -> StatusesRead:
    """Read from Prolific how each submission stands; who returned theirs or ran out of time gives the places back.

    Raises NoToken and NotDone; nothing has changed then.
    """
    api = ProlificApi(token_of(by))
    studies = {study_at_the_site(entry), *entry.sessions.values_list("cohort", flat=True)} - {""}
    if not studies:
        raise NotDone("There is no study on Prolific yet.")
    try:
        submissions = [
            prolific.submission_of(0, *(str(row.get(name, "")) for name in ("id", "participant_id", "status")))
            for study in sorted(studies)
            for row in api.submissions(study)
        ]
    except (ProlificRefused, NoAnswer, BrokenLine) as failed:
        raise NotDone(f"Nothing was changed. {failed}") from failed
    return take_statuses(entry=entry, submissions=submissions, at=at)
