"""Changing the frame of a study that stands: as one likes while it has no items, then only by adding to it."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from annotate.frames.checks import FrameRefused, check_frame
from annotate.frames.frame import Frame, frame_of, settled
from annotate.studies.lifecycle import WrongState
from collection.models import Run, Study


@transaction.atomic
def change_frame(*, study: Study, frame: Frame) -> Frame:
    """Give the study another frame, and return it with the seed of its draw.

    Once the study has items, runs and topics can be added, and nothing else: what was drawn keeps its probability, and
    a topic that is added to a draw is asked about for certain. Opening the study again makes the tasks. Raises
    FrameRefused, and WrongState for a closed study.
    """
    stored = Study.objects.select_for_update().get(pk=study.pk)
    if stored.state == Study.State.CLOSED:
        raise WrongState("This study is closed; reopen it to add runs or topics.")
    check_frame(frame, stored.collection)
    before = frame_of(stored)
    seed = frame.seed or before.seed
    frame = settled(replace(frame, seed=seed))
    if stored.items.exists():
        _refuse_unless_added(before, frame, stored)
    stored.frame = study.frame = frame.as_dict()
    stored.save(update_fields=["frame"])
    return frame


def _refuse_unless_added(before: Frame, after: Frame, study: Study) -> None:
    """Raise FrameRefused where the new frame is more than the old one with other runs or topics added."""
    runs = Run.objects.filter(collection=study.collection).values_list("name", flat=True)
    if lost := [run for run in runs if before.takes(run) and not after.takes(run)]:
        raise FrameRefused("run_names", f"The study has items already, so runs can only be added: keep {lost[0]}.")
    if lost := [topic for topic in before.topic_ids if topic not in after.topic_ids]:
        raise FrameRefused("topic_ids", f"The study has items already, so topics can only be added: keep {lost[0]}.")
    fixed, now = _but_what_may_be_added(before), _but_what_may_be_added(after)
    if changed := [name for name in fixed.keys() | now.keys() if fixed.get(name) != now.get(name)]:
        raise FrameRefused(
            min(changed), "The study has items already: only runs and topics can be added. Copy it for another frame."
        )


def _but_what_may_be_added(frame: Frame) -> dict[str, object]:
    return replace(frame, runs="all", run_names=(), topic_ids=()).as_dict()
