"""Sessions of people from crowd sites: they arrive, work, and come to one of several ends. See also `returns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from django.db import transaction
from django.db.models import DateTimeField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext

from annotate.assignments.places import left_alone_since
from annotate.models import (
    Assignment,
    CrowdEntry,
    CrowdIdentity,
    CrowdSession,
    Enrolment,
    Erasure,
    Participant,
    Place,
    ScreenOut,
)
from annotate.models.work import AssignmentQuerySet
from annotate.participants.arrivals import Arrival
from annotate.participants.participants import (
    NotLetIn,
    fingerprint,
    make_participant,
    participant_of,
    refuse_another_kind_of_account,
)
from annotate.studies.lifecycle import enrol
from collection.judgments.compiled_sql import compiled
from collection.models import Study, User

State = CrowdSession.State
# A session that found no work goes on when there is some again.
GOES_ON = (State.ACTIVE, State.NO_WORK)
GONE = (State.RETURNED, State.TIMED_OUT)
# People of these take a place at the site.
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
SEATED = (State.ACTIVE, State.NO_WORK, State.COMPLETED)


# --- Arriving -----------------------------------------------------------------------------------


@transaction.atomic
def arrive(*, entry: CrowdEntry, arrival: Arrival, at: datetime) -> CrowdSession:
    """Return the person's session, made if it is new; the same id leads to the same person and their work.

    Raises NotLetIn. Two arrivals of one person at one moment make one person.
    """
    entry = CrowdEntry.objects.select_for_update(of=("self",)).select_related("study").get(pk=entry.pk)
    session, participant = refuse_or_recognise(entry, arrival)
    participant = participant or _newcomer(entry, arrival, at=at)
    session = session or _new_session(entry, participant, arrival, at=at)
    if session.state in GOES_ON:
        enrol(study=entry.study, user=participant.user, at=at)
    return session


def refuse_or_recognise(entry: CrowdEntry, arrival: Arrival) -> tuple[CrowdSession | None, Participant | None]:
    """Return the session and the person, where they came before. Raises NotLetIn for whom `arrive` would not let in.

    It only reads, so a page can tell people before they begin.
    """
    session = CrowdSession.objects.filter(entry=entry, session_id=arrival.session_id).first()
    if session is None:
        refuse_while_no_work_is_given(entry.study)
    participant = participant_of(entry, arrival.crowd_id)
    if participant is None:
        _refuse_newcomers(entry, arrival)
    else:
        refuse_another_kind_of_account(participant.user)
        _refuse_the_removed(participant)
    if session and (participant is None or session.participant_id != participant.pk):
        raise NotLetIn(
            gettext(
                "Somebody else has already used this session. Please open the study again from {site}, signed in there "
                "as yourself."
            ).format(site=entry.get_site_display())
        )
    return session, participant


def refuse_while_no_work_is_given(study: Study) -> None:
    """Raise NotLetIn unless the study is open."""
    if study.state != Study.State.OPEN:
        raise NotLetIn(gettext("The study gives out no work now. Please return your place; nothing you did is lost."))


def refuse_where_all_is_taken(study: Study, *, at: datetime) -> None:
    """Raise NotLetIn where others hold or did every task, so that a newcomer would find none."""
    free = Q(holder=None)
    if limit := left_alone_since(study, at=at):
        free |= Q(pk__in=Assignment.objects.open().filter(touched_at__lt=limit).values("place"))
    places = Place.objects.filter(task__study=study)
    if places.exists() and not places.filter(free | Q(task__everyone=True)).exists():
        raise NotLetIn(gettext("All tasks of this study are taken. Please return your place."))


def _refuse_newcomers(entry: CrowdEntry, arrival: Arrival) -> None:
    if not entry.takes_newcomers:
        raise NotLetIn(gettext("The study takes no new participants now. Please return your place."))
    if Erasure.objects.filter(study=entry.study_id, fingerprint=fingerprint(entry, arrival.crowd_id)).exists():
        raise NotLetIn(
            gettext(
                "Your personal data in this study were erased, so you cannot take part in it again. Please return your "
                "place."
            )
        )
    if entry.most_people is not None:
        seated = entry.sessions.filter(state__in=SEATED).values("participant").distinct().count()
        if seated >= entry.most_people:
            raise NotLetIn(gettext("All places of this study are taken. Please return yours."))


def _newcomer(entry: CrowdEntry, arrival: Arrival, *, at: datetime) -> Participant:
    participant = make_participant(study=entry.study, entry=entry, at=at)
    CrowdIdentity.objects.create(participant=participant, entry=entry, crowd_id=arrival.crowd_id)
    return participant


def _refuse_the_removed(participant: Participant) -> None:
    """Raise NotLetIn for whom a researcher took out of the study. Who returned a session may come again."""
    newest = participant.sessions.last()
    left = Enrolment.objects.filter(study=participant.study_id, user=participant.user_id, left_at__isnull=False)
    if newest and newest.state in SEATED and left.exists():
        raise NotLetIn(
            gettext("You are no longer in this study. Please return your place, or write to the researchers.")
        )


def _new_session(entry: CrowdEntry, participant: Participant, arrival: Arrival, *, at: datetime) -> CrowdSession:
    """Begin a session. One that the person left unfinished ends here: what they hold they take along."""
    participant.sessions.filter(state__in=GOES_ON).update(state=State.TIMED_OUT, finished_at=at)
    out = _screen_out_of(participant)
    return CrowdSession.objects.create(
        entry=entry,
        participant=participant,
        session_id=arrival.session_id,
        cohort=arrival.cohort,
        arrived_at=at,
        state=_state_of_the_screened_out(out.reason) if out else State.ACTIVE,
        finished_at=at if out else None,
    )


def _screen_out_of(participant: Participant) -> ScreenOut | None:
    """Return why the person may not work in the study, if they may not."""
    out = ScreenOut.objects.in_force().filter(enrolment__study=participant.study_id)
    return out.filter(enrolment__user=participant.user_id).first()


def _state_of_the_screened_out(reason: str) -> State:
    return State.NO_CONSENT if reason == ScreenOut.Reason.CONSENT else State.SCREENED_OUT


# --- Working ------------------------------------------------------------------------------------


def session_of(*, study: Study, user: User) -> CrowdSession | None:
    """Return the person's newest session in the study; None for people who came another way."""
    newest = _newest_session(study=study.pk, user=user.pk)
    return newest[0] if newest else None


@compiled
def _newest_session(*, study: int, user: int) -> QuerySet[CrowdSession]:
    sessions = CrowdSession.objects.filter(participant__user=user, participant__study=study)
    return sessions.select_related("entry__study", "participant__user").order_by("-arrived_at", "-pk")[:1]


def work_of(session: CrowdSession) -> AssignmentQuerySet:
    """Return the assignments that belong to the session: submitted during it, or in the person's hands now."""
    later = _later(session)
    submitted = Q(state=Assignment.State.SUBMITTED) & _during(session, later, "submitted_at")
    in_hand = Q(pk=None) if later else Q(state=Assignment.State.OPEN)
    return _had(session).filter(in_hand | submitted)


def passed_on_in(session: CrowdSession) -> AssignmentQuerySet:
    """Return the assignments that the person had in the session and passed on without judging them."""
    passed_on = Q(returned_because__in=Assignment.PASSED_ON) & _during(session, _later(session), "returned_at")
    return _had(session).filter(passed_on)


def _had(session: CrowdSession) -> AssignmentQuerySet:
    return Assignment.objects.of(session.participant.user).filter(task__study=session.participant.study_id)


def _later(session: CrowdSession) -> CrowdSession | None:
    return session.participant.sessions.filter(arrived_at__gt=session.arrived_at).order_by("arrived_at").first()


def _during(session: CrowdSession, later: CrowdSession | None, field: str) -> Q:
    until = Q(**{f"{field}__lt": later.arrived_at}) if later else Q()
    return Q(**{f"{field}__gte": session.arrived_at}) & until


def n_submitted(session: CrowdSession) -> int:
    return work_of(session).filter(state=Assignment.State.SUBMITTED).count()


def began_of_session(user: User | int, *, study: int | OuterRef) -> Coalesce:
    """Return, for a query, when the person's newest session began; long ago for people who came another way."""
    sessions = CrowdSession.objects.filter(participant__user=user, participant__study=study)
    newest = sessions.order_by("-arrived_at", "-pk").values("arrived_at")[:1]
    return Coalesce(Subquery(newest), Value(LONG_AGO, output_field=DateTimeField()))


def has_ended(session: CrowdSession) -> bool:
    return session.state not in GOES_ON


def within_session(user: User, n_left: Mapping[int, int]) -> dict[int, int]:
    """Return how many of the tasks left, by study, the person is still given in their session. In hand counts as given.

    For people who came another way these are the same numbers.
    """
    session = CrowdSession.objects.filter(participant__user=user).select_related("entry", "participant__user").last()
    if session is None or session.entry.tasks_per_person is None:
        return dict(n_left)
    study = session.entry.study_id
    still = max(0, session.entry.tasks_per_person - work_of(session).count())
    return {**n_left, study: 0 if has_ended(session) else min(n_left.get(study, 0), still)}


def end_if_full(*, session: CrowdSession, at: datetime) -> bool:
    """End the session if its person submitted as many tasks as one does in it. Returns whether it ended.

    Nothing is in their hands then, so nothing is unsaved when the code is shown.
    """
    quota = session.entry.tasks_per_person
    if quota is None or n_submitted(session) < quota or work_of(session).open().exists():
        return False
    end(session, State.COMPLETED, at=at)
    return has_ended(session)


def has_all_its_tasks(session: CrowdSession) -> bool:
    """Whether what the person submitted in the session and still has, aside too, is as much as one does in it."""
    quota = session.entry.tasks_per_person
    return quota is not None and work_of(session).count() >= quota


def resume(session: CrowdSession) -> None:
    """Go on with a session that found no work before, now that there is some."""
    if session.state == State.NO_WORK:
        _move(session, State.ACTIVE, from_=[State.NO_WORK], at=None)


@dataclass(frozen=True)
class Share:
    """How many tasks the person judged in a session, how many they passed on, and how many had to be judged."""

    judged: int
    passed_on: int
    needed: int

    @property
    def had(self) -> int:
        return self.judged + self.passed_on

    @property
    def is_enough(self) -> bool:
        return self.judged >= self.needed


def share_of(session: CrowdSession) -> Share:
    """Return what of the session's tasks its person judged, against the share that the entry asks for."""
    judged, passed_on = n_submitted(session), passed_on_in(session).count()
    had = judged + passed_on
    entry = session.entry
    asked = had if entry.tasks_per_person is None else min(had, entry.tasks_per_person)
    return Share(judged, passed_on, ceil(asked * entry.least_judged / 100))


def end_for_lack_of_work(*, session: CrowdSession, at: datetime) -> None:
    """End the session of a person for whom nothing is left.

    It is completed if they judged the share of their tasks that the entry asks for. Whoever had no task found no work.
    """
    share = share_of(session)
    if not share.judged and not share.passed_on:
        return end(session, State.NO_WORK, at=at)
    return end(session, State.COMPLETED if share.is_enough else State.TOO_FEW, at=at)


def end_address(session: CrowdSession) -> str:
    return reverse("annotate:crowd_end", args=[session.entry.study.name])


def code_of(session: CrowdSession) -> str:
    """Return the code that this end of a session earns; empty where it earns none."""
    entry = session.entry
    codes = {
        State.COMPLETED: entry.completion_code,
        State.SCREENED_OUT: entry.screen_out_code,
        State.NO_CONSENT: entry.no_consent_code,
        State.TOO_FEW: entry.too_few_code,
    }
    return codes.get(State(session.state), "")


def end_session(*, study: Study, user: User, reason: str, at: datetime) -> None:
    """End the session, if there is one, of a person who is screened out for this reason. Their work is the caller's.

    A session that has ended stays as it ended.
    """
    session = session_of(study=study, user=user)
    if session:
        end(session, _state_of_the_screened_out(reason), at=at)


def end(session: CrowdSession, state: State, *, at: datetime) -> None:
    """End a session that goes on. One that has ended since it was read, as returned say, stays as it ended."""
    _move(session, state, from_=GOES_ON, at=at)


def _move(session: CrowdSession, state: State, *, from_: Sequence[State], at: datetime | None) -> None:
    CrowdSession.objects.filter(pk=session.pk, state__in=from_).update(state=state, finished_at=at)
    session.refresh_from_db(fields=["state", "finished_at"])
