"""How people of crowd sites arrive: who is let in, as whom, and into which session."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q
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
from annotate.participants.arrivals import Arrival
from annotate.participants.participants import (
    NotLetIn,
    fingerprint,
    make_participant,
    participant_of,
    refuse_another_kind_of_account,
)
from annotate.sessions.offers import offered
from annotate.sessions.outcomes import Because, end, why_screened_out
from annotate.sessions.sessions import GOES_ON, State, has_ended
from annotate.studies.lifecycle import enrol
from collection.models import Study

# People of these take a place at the site.
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
    else:
        session.entry = entry
    participant = participant_of(entry, arrival.crowd_id)
    if participant is None:
        _refuse_newcomers(entry, arrival)
    else:
        refuse_another_kind_of_account(participant.user)
        if session is None or not has_ended(session):
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
    removed = newest and (newest.state in SEATED or newest.ended_because == Because.REMOVED)
    if removed and left.exists():
        raise NotLetIn(
            gettext("You are no longer in this study. Please return your place, or write to the researchers.")
        )


def _new_session(entry: CrowdEntry, participant: Participant, arrival: Arrival, *, at: datetime) -> CrowdSession:
    """Begin a session. One that the person left unfinished ends here: what they hold they take along.

    It ends at once for somebody who may not work in the study.
    """
    for left in participant.sessions.filter(state__in=GOES_ON).select_related("entry__study", "participant__user"):
        end(left, Because.TIMED_OUT, at=at)
    session = CrowdSession.objects.create(
        entry=entry,
        participant=participant,
        session_id=arrival.session_id,
        cohort=arrival.cohort,
        arrived_at=at,
        **offered(entry),
    )
    if out := _screen_out_of(participant):
        end(session, why_screened_out(out.reason), at=at)
    return session


def _screen_out_of(participant: Participant) -> ScreenOut | None:
    """Return why the person may not work in the study, if they may not."""
    out = ScreenOut.objects.in_force().filter(enrolment__study=participant.study_id)
    return out.filter(enrolment__user=participant.user_id).first()
