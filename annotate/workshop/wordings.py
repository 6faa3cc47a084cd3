"""Words for a nugget that somebody asks the workshop's judge for: a worker asks the judge, the page looks on."""

from __future__ import annotations

import logging
from datetime import datetime

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.module_loading import import_string
from django.utils.translation import gettext
from kombu.exceptions import OperationalError

from annotate.workshop.proposing import Role, check_span, locked, refuse_what_is_over
from collection.banks.changes import DoesNotFit
from collection.models import NuggetWording, Passage, Rater, Report, WorkshopPerson, WorkshopTopic

logger = logging.getLogger(__name__)

State = NuggetWording.State
MOST_WORDINGS = 200
MOST_LETTERS = 2_000


class NoJudge(Exception):
    """The workshop has no judge, or the person does not propose in it."""


def judges_that_word() -> QuerySet[Rater]:
    """Return the judges that can write a nugget's words."""
    found: QuerySet[Rater] = import_string(settings.JUDGES_THAT_WORD)()
    return found


@transaction.atomic
def ask_for_words(
    *,
    workshop_topic: WorkshopTopic,
    person: WorkshopPerson,
    source: Passage | Report | None,
    start: int | None,
    end: int | None,
    quote: str,
    at: datetime,
) -> NuggetWording:
    """Have a worker ask the judge to word what is highlighted. Who has asked already and waits, gets that.

    Raises NoJudge, WorkIsOver, SpanDoesNotFit and DoesNotFit.
    """
    held = locked(workshop_topic)
    judge = held.workshop.judge
    if judge is None or person.role != Role.PROPOSES:
        raise NoJudge
    refuse_what_is_over(held, person)
    check_span(source, start, end, quote)
    assert start is not None  # or it is refused
    assert end is not None
    own = held.wordings.filter(person=person)
    waiting = [one for one in own.filter(state=State.AT_WORK) if one.is_awaited(at=at)]
    if waiting:
        return waiting[-1]
    if own.count() >= MOST_WORDINGS:
        raise DoesNotFit(gettext("There are too many proposals."))
    if len(quote) > MOST_LETTERS:
        raise DoesNotFit(gettext("Highlight less."))
    asked = NuggetWording.objects.create(
        workshop_topic=held,
        person=person,
        judge=judge,
        passage=source if isinstance(source, Passage) else None,
        report=source if isinstance(source, Report) else None,
        start=start,
        end=end,
        quote=quote,
        asked_at=at,
    )
    if settings.WORK_AT_ONCE:
        import_string(settings.WORDS_OF_JUDGES)(asked.pk, at=at)
        asked.refresh_from_db()
    else:
        transaction.on_commit(lambda: _send(asked))
    return asked


def _send(asked: NuggetWording) -> None:
    try:
        current_app.send_task("judging.word_a_nugget", args=[asked.pk], retry=False)
    except OperationalError as error:
        logger.warning("The broker does not answer; wording %s is not asked for.", asked.pk, exc_info=True)
        NuggetWording.objects.filter(pk=asked.pk).update(
            state=State.FAILED, error=f"No worker can be reached: {error}", ended_at=asked.asked_at
        )
