"""From round 1 to round 2 of written answers: which are read by a second person, and their tasks.

A study asks for it by the criterion of round 2. Its columns say which answers (`revise`: those whose sentences
are not consecutive, or all) and how many people read each (`revision_places`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q

from annotate.models import Assignment, Place, Task, TaskItem
from collection.judgments.services import title_to_choose
from collection.models import AnswerToRevise, Draw, Item, Judgment, Rater, Study, WrittenAnswer
from collection.models.studies import TaskType
from collection.texts.sentences import are_consecutive, sentences_of

NON_CONSECUTIVE, ALL = "non_consecutive", "all"
DESIGNS = {NON_CONSECUTIVE: "answers of sentences that are not consecutive", ALL: "all answers"}
PLACES = 1


@transaction.atomic
def lay_out_revisions(*, study: Study, at: datetime) -> int:
    """Make round 2's tasks for all answers that still lack one: when a study opens. Returns how many were made."""
    if not asks_for_round_2(study):
        return 0
    submitted = Assignment.objects.filter(
        rater=OuterRef("judgment__rater"),
        asked__item=OuterRef("judgment__item"),
        state=Assignment.State.SUBMITTED,
    )
    handed_on = AnswerToRevise.objects.filter(answered=OuterRef("judgment__item"), writer=OuterRef("judgment__rater"))
    waiting = (
        WrittenAnswer.objects.filter(
            Q(judgment__rater__user=None) | Exists(submitted),
            ~Exists(handed_on),
            judgment__item__study=study,
            judgment__item__task_type=TaskType.WRITTEN_ANSWER,
        )
        .exclude(text="")
        .select_related("judgment__item__passage", "judgment__item__topic")
        .prefetch_related("judgment__highlights")
        .order_by("judgment__item", "judgment")
    )
    return _hand_on(study, [answer for answer in waiting if is_for_round_2(study, answer)], at=at)


@transaction.atomic
def hand_on_answer(*, item: Item, writer: Rater, at: datetime) -> None:
    """Bring round 2 up to what the writer now says of the item, unless somebody has begun to read the answer."""
    study = Study.objects.select_for_update().get(pk=item.study_id)
    if not asks_for_round_2(study):
        return
    answer = (
        WrittenAnswer.objects.filter(judgment__item=item, judgment__rater=writer)
        .select_related("judgment__item__passage", "judgment__item__topic")
        .prefetch_related("judgment__highlights")
        .first()
    )
    wanted = answer if answer and is_for_round_2(study, answer) else None
    handed_on = AnswerToRevise.objects.select_related("item").filter(answered=item, writer=writer).first()
    if handed_on is None:
        _hand_on(study, [wanted] if wanted else [], at=at)
    elif is_read(handed_on):
        return
    elif wanted is None:
        Task.objects.filter(task_items__item=handed_on.item_id).delete()
        handed_on.item.delete()
    else:
        handed_on.text, handed_on.spans, handed_on.handed_on_at = wanted.text, _spans(wanted), at
        handed_on.save(update_fields=["text", "spans", "handed_on_at"])


def is_with_second_reader(*, item: Item, writer: Rater) -> bool:
    """Whether somebody has begun to read this answer, so that its writer cannot change it any more."""
    handed_on = AnswerToRevise.objects.filter(answered=item, writer=writer).first()
    return handed_on is not None and is_read(handed_on)


def is_read(handed_on: AnswerToRevise) -> bool:
    """Whether anybody has opened or judged the answer. Nobody can begin until the transaction ends."""
    list(Place.objects.select_for_update().filter(task__task_items__item=handed_on.item_id))
    return (
        Assignment.objects.filter(task__task_items__item=handed_on.item_id).exists()
        or Judgment.objects.filter(item=handed_on.item_id).exists()
    )


def asks_for_round_2(study: Study) -> bool:
    return study.criteria.filter(task_type=TaskType.ANSWER_REVISION).exists()


def is_for_round_2(study: Study, answer: WrittenAnswer) -> bool:
    """Whether the study wants a second reader for this answer."""
    if which(study) == ALL:
        return True
    passage = answer.judgment.item.passage
    assert passage is not None
    highlights = answer.judgment.highlights.all()
    chosen = [(one.start, one.end) for one in highlights if one.start is not None and one.end is not None]
    return not are_consecutive(chosen, sentences_of(passage))


def which(study: Study) -> str:
    return study.revise


def _spans(answer: WrittenAnswer) -> list[dict[str, object]]:
    title = title_to_choose(answer.judgment.item)
    return [
        {"start": highlight.start or 0, "end": highlight.end or 0, "quote": highlight.quote}
        for highlight in answer.judgment.highlights.all()
        if highlight.start is not None or (title and highlight.quote == title)
    ]


def _hand_on(study: Study, answers: Iterable[WrittenAnswer], *, at: datetime) -> int:
    """Make the items, tasks and places of these answers. The study's row is held."""
    answers = list(answers)
    answered = {answer.judgment.item_id for answer in answers}
    # The highest so far, not how many: one that was taken back leaves a gap.
    numbers = dict.fromkeys(answered, 0)
    handed_on = AnswerToRevise.objects.filter(answered__in=answered)
    for pk, name in handed_on.values_list("answered__pk", "item__item_id"):
        numbers[pk] = max(numbers[pk], int(name.rpartition("/")[2]))
    draws_of_round_1 = Draw.objects.filter(item__in=answered).exclude(purpose=Draw.Purpose.CONTROL)
    probabilities = dict(draws_of_round_1.values_list("item__pk", "inclusion_probability"))
    position = (study.tasks.aggregate(last=Max("position"))["last"] or 0) + 1
    items, tasks, revised, draws = [], [], [], []
    for number, answer in enumerate(answers):
        of = answer.judgment.item
        numbers[of.pk] += 1
        assert of.passage is not None
        name = f"{TaskType.ANSWER_REVISION.value}/{of.topic.topic_id}/{of.passage.passage_id}/{numbers[of.pk]}"
        common = {"study_id": study.pk, "task_type": TaskType.ANSWER_REVISION, "topic_id": of.topic_id}
        item = Item(item_id=name, passage_id=of.passage_id, **common)
        items.append(item)
        tasks.append(Task(passage_id=of.passage_id, position=position + number, **common))
        revised.append(
            AnswerToRevise(
                item=item,
                answered=of,
                writer_id=answer.judgment.rater_id,
                text=answer.text,
                spans=_spans(answer),
                handed_on_at=at,
            )
        )
        draws.append(
            Draw(
                item=item,
                # Every answer of this kind is read, so it is here as often as its passage was drawn for round 1.
                inclusion_probability=probabilities.get(of.pk, 1.0),
                design=DESIGNS[which(study)],
                drawn_at=at,
            )
        )
    Item.objects.bulk_create(items)
    Task.objects.bulk_create(tasks)
    AnswerToRevise.objects.bulk_create(revised)
    Draw.objects.bulk_create(draws)
    places = range(1, study.revision_places + 1)
    Place.objects.bulk_create(Place(task=task, number=number) for task in tasks for number in places)
    TaskItem.objects.bulk_create(
        TaskItem(task=task, item=item, position=0) for task, item in zip(tasks, items, strict=True)
    )
    return len(answers)
