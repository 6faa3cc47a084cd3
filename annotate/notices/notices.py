"""What assessors are told on *My work*, and by mail if they want: made where it happens, in the same transaction."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotate.models import Assignment, Enrolment, Notice, Place
from annotate.notices.mails import ask_for_mails
from collection.models import Study, User

Kind = Notice.Kind

# So many are shown.
MOST = 6
# What the card of its study says on *My work*.
ON_THE_CARD = [Kind.NEW_WORK, Kind.CLOSED]
# What is no longer true once the other is said.
OVER_WITH = {Kind.NEW_WORK: [Kind.CLOSED, Kind.REMOVED], Kind.CLOSED: [Kind.NEW_WORK], Kind.REMOVED: [Kind.NEW_WORK]}


def notify(users: Iterable[int], *, study: Study, kind: Kind, at: datetime) -> None:
    """Tell these people (their keys) what happened in the study. Of each kind only the last one is kept."""
    told = sorted(set(users))
    if not told:
        return
    Notice.objects.bulk_create(
        [Notice(user_id=user, study=study, kind=kind, made_at=at) for user in told],
        update_conflicts=True,
        unique_fields=["user", "study", "kind"],
        update_fields=["made_at", "dismissed_at"],
    )
    over = Notice.objects.filter(user__in=told, study=study, kind__in=OVER_WITH.get(kind, []), dismissed_at=None)
    over.update(dismissed_at=at)
    transaction.on_commit(lambda: ask_for_mails(told), robust=True)


def people_of(study: Study) -> QuerySet[Enrolment, int]:
    """Return the keys of those who work in the study, but of people from crowd sites, whose sessions end."""
    enrolled = study.enrolments.filter(left_at=None, user__is_active=True)
    return enrolled.exclude(user__participant__entry__isnull=False).values_list("user", flat=True)


def without_work(study: Study) -> QuerySet[Enrolment, int]:
    """Return the keys of those of them who hold no open task."""
    holding = Assignment.objects.filter(task__study=study).open().values("rater__user")
    return people_of(study).exclude(user__in=holding)


def tell_of_free_places(study: Study, *, returned: Iterable[Assignment], at: datetime) -> None:
    """Tell those who hold nothing that places are free again, if none was free before these were returned."""
    freed = [assignment.place_id for assignment in returned]
    free = Place.objects.filter(task__study=study, task__batch__lte=study.released_batch, holder=None)
    if study.state != Study.State.OPEN or free.exclude(pk__in=freed).exists():
        return
    had = Assignment.objects.filter(place__in=freed).values("rater__user")
    notify(without_work(study).exclude(user__in=had), study=study, kind=Kind.NEW_WORK, at=at)


def notices_of(user: User, *, in_view: Iterable[Study] = ()) -> list[Notice]:
    """Return what the person has not dismissed, the newest first, but for what the cards of the studies in view say."""
    shown = user.notices.filter(dismissed_at=None).exclude(kind__in=ON_THE_CARD, study__in=in_view)
    return list(shown.select_related("study")[:MOST])


def dismiss(*, user: User, at: datetime, pk: int | None = None) -> int:
    """Show the person's notice no more, or all of them. Returns how many there were."""
    shown = user.notices.filter(dismissed_at=None)
    return (shown if pk is None else shown.filter(pk=pk)).update(dismissed_at=at)
