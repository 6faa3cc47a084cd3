"""Work that is shared by topic: whoever begins a topic gets the places of one number in all of its tasks.

A share is a row, so that nobody else takes a place in between. What its holder passed on (skipped, timed out) or left
behind by leaving the study is free for others, and a share whose holder left can be taken over.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.frames.frame import frame_of
from annotate.models import Assignment, Enrolment, Place, TopicShare
from collection.models import Rater, Study


def is_shared_by_topic(study: Study) -> bool:
    """Whether an assessor gets all tasks of a topic."""
    return frame_of(study).share_by == "topic"


def begun_by(rater: Rater | int) -> Exists:
    """Whether a place belongs to a share that the rater holds."""
    return Exists(_here().filter(holder=rater))


def open_to(rater: Rater | int) -> Q:
    """Places of the rater's shares, of shares that nobody has, and what the holder of a share will not do."""
    will_not = Q(Exists(Assignment.objects.filter(task=OuterRef(OuterRef("task")), rater=OuterRef("holder"))))
    works = Exists(Enrolment.objects.filter(study=OuterRef("study"), user=OuterRef("holder__user"), left_at=None))
    reserved = _here().filter(works).exclude(holder=rater).exclude(will_not)
    of_topic = TopicShare.objects.filter(study=OuterRef("task__study"), topic=OuterRef("task__topic"), holder=rater)
    free = ~Q(Exists(reserved)) & (~Q(Exists(of_topic)) | Q(Exists(_here())))
    return Q(task__everyone=True) | Q(begun_by(rater)) | free


def hold_share(place: Place, rater: Rater) -> None:
    """Give the rater the share that the place they take belongs to, where nobody works on it. The study is locked."""
    if place.task.everyone:
        return
    of_topic = TopicShare.objects.filter(study=place.task.study_id, topic=place.task.topic_id)
    if of_topic.filter(holder=rater).exists():
        return
    share = of_topic.filter(number=place.number).first()
    if share is None:
        TopicShare.objects.create(
            study_id=place.task.study_id, topic_id=place.task.topic_id, number=place.number, holder=rater
        )
    elif not Enrolment.objects.filter(study=share.study_id, user=share.holder.user_id, left_at=None).exists():
        share.holder = rater
        share.save(update_fields=["holder"])


def _here() -> QuerySet[TopicShare]:
    """The share that a place belongs to."""
    return TopicShare.objects.filter(
        study=OuterRef("task__study"), topic=OuterRef("task__topic"), number=OuterRef("number")
    )
