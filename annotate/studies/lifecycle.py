"""A study's life: made as a draft, opened, paused, closed; its guidelines and its people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from django.db import transaction

from annotate.assignments.assignments import return_open
from annotate.assignments.revisions import lay_out_revisions
from annotate.frames.checks import check_frame
from annotate.models import Assignment, Enrolment, PlannedClosing
from annotate.notices.notices import Kind, notify, people_of, without_work
from annotate.sessions.at_work import at_work
from annotate.sessions.outcomes import Because, end_session, end_sessions, people_whose_session_ended
from annotate.studies.design import StudyDesign
from annotate.studies.layout import lay_out_tasks
from annotate.task_types import criteria_asked
from annotate.task_types.key_point import left_out_criteria
from collection.languages.languages import ENGLISH, learn
from collection.models import (
    Criterion,
    EarlierJudgment,
    Exclusion,
    Guideline,
    Judgment,
    Rater,
    Split,
    Study,
    User,
)
from collection.models.studies import TaskType
from collection.questions.guidelines import standard_guidelines
from collection.questions.shapes import CriterionShape

RESERVED_NAMES = ("new", "preview", "frame")
OPENS_FROM = (Study.State.DRAFT, Study.State.PAUSED, Study.State.OPEN)


class WrongState(Exception):
    """A study in this state cannot do that."""


class NotEmpty(Exception):
    """The study holds what may not be lost with it."""


class NothingWasAsked(ValueError):
    """A study needs at least one task type."""


class NameTaken(ValueError):
    """Another study has this name, or a page of the site stands at its address."""


class AlreadyExcluded(Exception):
    """The rater is excluded from the study as it is."""


@transaction.atomic
def make_study(design: StudyDesign, *, assessors: Iterable[User] = (), by: User, at: datetime) -> Study:
    """Make a draft with its criteria, its first guidelines and its people. It has no items until it opens.

    Raises NothingWasAsked, NameTaken and FrameRefused.
    """
    if not design.task_types:
        raise NothingWasAsked("Choose at least one task type.")
    refuse_a_taken_name(design.name)
    check_frame(design.frame, design.collection)
    study = Study.objects.create(created_by=by, **design.columns())
    for position, (task_type, standard) in enumerate(_criteria_of(design)):
        shape = design.criteria.get(standard.name, standard)
        Criterion.objects.create(
            study=study,
            task_type=task_type,
            name=standard.name,
            question=shape.question,
            scale=shape.scale.stored(),
            threshold=shape.threshold,
            position=position,
        )
    guidelines = design.guidelines or standard_guidelines(design.task_types, design.language)
    revise_guidelines(study=study, markdown=guidelines, by=by)
    for user in assessors:
        enrol(study=study, user=user, at=at)
    return study


def _criteria_of(design: StudyDesign) -> Iterator[tuple[str, CriterionShape]]:
    """Yield the criteria that such a study asks, in its language, each with the task type of its items."""
    left_out = left_out_criteria(design.key_points_in, why_missed=design.why_missed)
    for task_type in design.task_types:
        for of_items, shape in criteria_asked(task_type, design.language):
            if of_items == TaskType.CONFIDENCE and not design.confidence:
                continue
            if of_items != TaskType.KEY_POINT or shape.name not in left_out:
                yield of_items, shape


def refuse_a_taken_name(name: str) -> None:
    """Raise NameTaken if no new study can have this name."""
    if name in RESERVED_NAMES or Study.objects.filter(name=name).exists():
        raise NameTaken(f"The name “{name}” is taken: choose another.")


@transaction.atomic
def revise_guidelines(*, study: Study, markdown: str, by: User) -> Guideline:
    """Put a new version in force; the same words again make none. Judgments keep the version they were made under."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    newest = study.guidelines.order_by("-version").first()
    if newest and newest.markdown == markdown:
        return newest
    version = newest.version + 1 if newest else 1
    guideline = Guideline.objects.create(study=study, version=version, markdown=markdown, created_by=by)
    if newest and study.state != Study.State.DRAFT:
        notify(people_of(study), study=study, kind=Kind.GUIDELINES, at=guideline.created_at)
    return guideline


@transaction.atomic
def open_study(*, study: Study, at: datetime) -> int:
    """Open a draft or a paused study to its assessors. Returns how many tasks were laid out now.

    Opening again, also while it is open, adds what came into the collection since then and leaves the
    rest as it is. Raises WrongState, and NothingToJudge where the collection lacks what a task type asks about.
    """
    was_open = study.state == Study.State.OPEN
    PlannedClosing.objects.filter(study=study).delete()
    study = move(study, to=Study.State.OPEN, from_=OPENS_FROM)
    return _lay_out(study, is_news=not was_open, at=at)


def _lay_out(study: Study, *, is_news: bool, at: datetime) -> int:
    """Make the tasks that the study lacks, and tell those who hold none. Returns how many were made."""
    made = lay_out_tasks(study=study, at=at) + lay_out_revisions(study=study, at=at)
    if made or is_news:
        notify(without_work(study), study=study, kind=Kind.NEW_WORK, at=at)
    return made


@transaction.atomic
def delete_draft(*, study: Study) -> None:
    """Remove a draft with its criteria, guidelines and settings. Raises WrongState, and NotEmpty.

    Only a study that never opened, and that nobody and no judge has touched, can be removed: no label is lost with it.
    """
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state != Study.State.DRAFT:
        raise WrongState(f"This study is {locked.get_state_display()}; only drafts can be deleted.")
    kept = {
        "judgments": Judgment.objects.of_study(locked),
        "earlier judgments": EarlierJudgment.objects.filter(criterion__study=locked),
        "items": locked.items.all(),
        "tasks": locked.tasks.all(),
        "comments": locked.comments.all(),
        "participants": locked.participants.all(),
        "a split of its topics": Split.objects.filter(study=locked),
    }
    if found := [what for what, rows in kept.items() if rows.exists()]:
        raise NotEmpty(f"“{locked}” has {', '.join(found)}: it cannot be deleted.")
    locked.delete()


@transaction.atomic
def pause_study(*, study: Study) -> Study:
    """Give out no work for now. What assessors hold they may finish."""
    return move(study, to=Study.State.PAUSED, from_=(Study.State.OPEN,))


@transaction.atomic
def close_study(*, study: Study, at: datetime) -> Study:
    """End the labelling: no new work, and no more answers. What is half done stays as it is.

    Sessions of people from crowd sites end, with the code that `annotate.sessions.outcomes` has for it.
    """
    closed = move(study, to=Study.State.CLOSED, from_=(Study.State.OPEN, Study.State.PAUSED))
    PlannedClosing.objects.filter(study=closed).delete()
    end_sessions(study=closed, because=Because.CLOSED, at=at)
    notify(people_of(closed), study=closed, kind=Kind.CLOSED, at=at)
    return closed


@transaction.atomic
def close_when_done(*, study: Study, by: User, at: datetime) -> Study:
    """Pause the study, and close it as soon as nobody works in it any more; opening it again cancels that."""
    paused = move(study, to=Study.State.PAUSED, from_=(Study.State.OPEN, Study.State.PAUSED))
    PlannedClosing.objects.update_or_create(study=paused, defaults={"asked_by": by, "asked_at": at})
    return paused


def close_what_is_done(*, at: datetime) -> int:
    """Close the studies that were to be, and in which nobody works any more. Returns how many."""
    planned = Study.objects.filter(planned_closing__isnull=False, state=Study.State.PAUSED)
    n_closed = 0
    for study in planned.order_by("pk"):
        if not at_work(study, at=at).n:
            with suppress(WrongState):  # somebody has opened it since
                close_study(study=study, at=at)
                n_closed += 1
    return n_closed


@transaction.atomic
def reopen_study(*, study: Study, at: datetime) -> int:
    """Open a closed study again. Returns how many tasks were laid out now.

    Sessions that ended when it was closed stay so, and what their people held goes to others.
    """
    study = move(study, to=Study.State.OPEN, from_=(Study.State.CLOSED,))
    held = Assignment.objects.filter(task__study=study, rater__user__in=people_whose_session_ended(study))
    return_open(held, because=Assignment.Because.LEFT, at=at)
    return _lay_out(study, is_news=True, at=at)


def move(study: Study, *, to: Study.State, from_: Sequence[Study.State]) -> Study:
    """Put the study into another state, holding its row until the transaction ends."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state not in from_:
        raise WrongState(f"This study is {locked.get_state_display()}; it cannot become {to.label} from there.")
    locked.state = study.state = to
    locked.save(update_fields=["state"])
    return locked


@transaction.atomic
def enrol(*, study: Study, user: User, at: datetime) -> Enrolment:
    """Let a person work in the study; whoever left may come back."""
    Rater.objects.get_or_create(user=user, defaults={"kind": Rater.Kind.ASSESSOR, "name": user.username})
    if not user.language and study.language != ENGLISH:
        learn(user, study.language)
    enrolment, created = Enrolment.objects.get_or_create(study=study, user=user, defaults={"joined_at": at})
    if not created and enrolment.left_at is not None:
        enrolment.left_at = None
        enrolment.save(update_fields=["left_at"])
    return enrolment


@transaction.atomic
def unenrol(*, study: Study, user: User, at: datetime) -> None:
    """Take a person out of the study. What they submitted stays; the work in their hands goes back."""
    Enrolment.objects.filter(study=study, user=user, left_at=None).update(left_at=at)
    mine = Assignment.objects.of(user).filter(task__study=study)
    return_open(mine, because=Assignment.Because.LEFT, at=at)


@transaction.atomic
def remove_person(*, study: Study, user: User, at: datetime) -> None:
    """Take a person out of the study as its researcher, and tell them."""
    if study.enrolments.filter(user=user, left_at=None).exists():
        unenrol(study=study, user=user, at=at)
        end_session(study=study, user=user, because=Because.REMOVED, at=at)
        notify([user.pk], study=study, kind=Kind.REMOVED, at=at)


@transaction.atomic
def exclude_rater(*, study: Study, rater: Rater, reason: str, by: User, at: datetime) -> Exclusion:
    """Leave a rater out of the study's statistics, until the exclusion is lifted. Nothing is deleted."""
    exclusion, created = Exclusion.objects.get_or_create(
        study=study,
        rater=rater,
        lifted_at=None,
        defaults={"reason": reason, "excluded_by": by, "excluded_at": at},
    )
    if not created:
        raise AlreadyExcluded(f"{rater} is excluded already: {exclusion.reason}")
    return exclusion


def lift_exclusion(*, study: Study, rater: Rater, at: datetime) -> bool:
    """Count a rater's judgments again. Returns whether there was an exclusion."""
    return bool(Exclusion.objects.filter(study=study, rater=rater, lifted_at=None).update(lifted_at=at))
