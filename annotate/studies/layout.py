"""Opening a study: its items, which texts people are asked about, and the tasks with their places.

Items are made for every text, drawn or not: judges may grade them all, and estimates need to know what
was left out.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, zip_longest
from math import ceil

from django.db.models import Max

from annotate.assignments.design import design_of
from annotate.frames.frame import frame_of
from annotate.frames.topics import store_topics
from annotate.models import GoldGrade, Place, Task, TaskItem
from annotate.studies.sampling import Drawn, sample_of
from annotate.studies.task_counts import asked_of, task_types_of
from annotate.task_types import RULES, NewItem, NothingToJudge, Text
from collection.hidden_order import hidden_order
from collection.models import Draw, Item, Study
from collection.models.studies import TaskType

ROWS_AT_ONCE = 5_000


def lay_out_tasks(*, study: Study, at: datetime) -> int:
    """Make the items, draws, tasks and places that the study lacks. Returns the number of new tasks.

    It has items on the topics that its frame asks about. Items that active labelling drew are asked too: alone, where
    their text is not in the sample. Raises NothingToJudge.
    """
    task_types = task_types_of(study)
    if not task_types:
        raise NothingToJudge("This study has no criterion for assessors.")
    asked = asked_of(study)
    if asked.problems:
        raise NothingToJudge(" ".join(dict.fromkeys(asked.problems.values())))
    store_topics(study, asked.topics, at=at)
    texts = asked.texts
    items = make_items(study, chain.from_iterable(texts.values()))
    in_a_task = set(TaskItem.objects.filter(task__study=study).values_list("item_id", flat=True))
    in_a_task.update(items_for_training(study))  # nobody is asked for what the training tells
    active = set(Draw.objects.filter(item__study=study, purpose=Draw.Purpose.ACTIVE).values_list("item_id", flat=True))
    fresh: dict[Text, list[int]] = {}
    draws: list[Draw] = []
    probabilities: dict[Text, float] = {}
    for task_type in task_types:
        sample = sample_of(study, task_type, texts[task_type], at=at)
        for text in texts[task_type]:
            unasked = [pk for one in text.items if (pk := items[key_of(one, text.topic)]) not in in_a_task]
            drawn = sample.drawn(text)
            if drawn is None:
                if chosen := [pk for pk in unasked if pk in active]:
                    fresh[text] = chosen
            elif unasked:
                fresh[text] = unasked
                draws += draws_of(unasked, drawn, at=at)
                probabilities[text] = drawn.probability
    controls = draw_controls(study, probabilities)
    for text, probability in controls.items():
        seen_by_everyone = Drawn(probability, "simple")
        draws += draws_of(fresh[text], seen_by_everyone, at=at, purpose=Draw.Purpose.CONTROL)
    Draw.objects.bulk_create(draws, batch_size=ROWS_AT_ONCE, ignore_conflicts=True)
    whole = gathered(fresh, everyone=controls.keys())
    make_tasks(study, whole, everyone=controls.keys())
    study.save(update_fields=["samples"])
    return len(whole)


def gathered(fresh: Mapping[Text, Sequence[int]], *, everyone: Collection[Text]) -> dict[Text, list[int]]:
    """Return the items of the texts by task: those drawn of one report are asked by one, named by the first of them."""
    first: dict[tuple[object, ...], Text] = {}
    whole: dict[Text, list[int]] = {}
    for text, items in fresh.items():
        together = (text.task_type, text.report, text in everyone) if text.is_part else (text,)
        whole.setdefault(first.setdefault(together, text), []).extend(items)
    return whole


def draws_of(
    items: Sequence[int], drawn: Drawn, *, at: datetime, purpose: Draw.Purpose = Draw.Purpose.SAMPLE
) -> list[Draw]:
    return [
        Draw(
            item_id=pk,
            purpose=purpose,
            inclusion_probability=drawn.probability,
            design=drawn.design,
            stratum=drawn.stratum,
            drawn_at=at,
        )
        for pk in items
    ]


def draw_controls(study: Study, probabilities: Mapping[Text, float]) -> dict[Text, float]:
    """Draw the share of the new tasks that everyone sees; returns each with the probability that it is one.

    That is the chance to be asked at all times the chance to be drawn from those. Texts that wait for a
    report are never drawn: whoever sees them depends on who had the report.
    """
    share = design_of(study).control_share
    candidates = [text for text in probabilities if text.after is None]
    n = min(len(candidates), ceil(share * len(candidates)))
    chosen = random.SystemRandom().sample(candidates, n)
    return {text: probabilities[text] * n / len(candidates) for text in chosen}


# --- Items ---------------------------------------------------------------------------------------

ItemKey = tuple[str, int, int | None, int | None, int | None, int | None, int | None]


def key_of(asked: NewItem, topic: int) -> ItemKey:
    """Return what tells the item from others. Of a pair either report may be the first."""
    first, second = in_either_order(asked.report, asked.other_report)
    return asked.task_type, topic, asked.element, first, asked.passage, second, asked.sentence


def in_either_order(report: int | None, other: int | None) -> tuple[int | None, int | None]:
    return (other, report) if report and other and other < report else (report, other)


def make_items(study: Study, texts: Iterable[Text]) -> dict[ItemKey, int]:
    """Make the items that the study lacks, and return all of them by what they are made of."""
    parts = ("task_type", "topic_id", "element_id", "report_id", "passage_id", "other_report_id", "sentence_id")
    stored: dict[ItemKey, int] = {}
    for pk, task_type, topic, element, report, passage, other, sentence in study.items.values_list("pk", *parts):
        first, second = in_either_order(report, other)
        stored[task_type, topic, element, first, passage, second, sentence] = pk
    new: dict[ItemKey, Item] = {}
    for text in as_if_drawn(texts):
        for asked in text.items:
            key = key_of(asked, text.topic)
            if key not in stored:
                new[key] = new_item(study, text, asked)
    Item.objects.bulk_create(new.values(), batch_size=ROWS_AT_ONCE)
    stored.update((key, item.pk) for key, item in new.items())
    return stored


def new_item(study: Study, text: Text, asked: NewItem) -> Item:
    """Return the item that asks this about the text, not stored yet."""
    return Item(
        study_id=study.pk,
        task_type=asked.task_type,
        item_id=asked.item_id,
        topic_id=text.topic,
        element_id=asked.element,
        report_id=asked.report,
        passage_id=asked.passage,
        other_report_id=asked.other_report,
        sentence_id=asked.sentence,
    )


# --- Tasks ---------------------------------------------------------------------------------------


def make_tasks(study: Study, fresh: Mapping[Text, Sequence[int]], *, everyone: Collection[Text] = ()) -> None:
    """Make a task for each text, with its items and its k places, behind the tasks that stand.

    What everyone sees has no places yet: it gets one for each who comes.
    """
    first = (study.tasks.aggregate(last=Max("position"))["last"] or 0) + 1
    ordered = in_order(list(fresh), by_topic=frame_of(study).share_by == "topic")
    size = design_of(study).batch_size
    tasks = {
        text: Task(
            study_id=study.pk,
            task_type=text.task_type,
            topic_id=text.topic,
            report_id=text.report,
            passage_id=text.passage,
            position=first + number,
            everyone=text in everyone,
            batch=1 + (first + number - 1) // size if size else 1,
        )
        for number, text in enumerate(ordered)
    }
    waiting = [text for text in ordered if text.after is not None]
    Task.objects.bulk_create((tasks[text] for text in ordered if text.after is None), batch_size=ROWS_AT_ONCE)
    first_of_report: dict[int | None, int] = dict(
        study.tasks.filter(task_type=TaskType.ANSWERABILITY).order_by("-position").values_list("report", "pk")
    )
    for text in waiting:
        tasks[text].after_id = first_of_report.get(text.after)
    Task.objects.bulk_create((tasks[text] for text in waiting), batch_size=ROWS_AT_ONCE)
    Place.objects.bulk_create(
        (
            Place(task_id=task.pk, number=number)
            for task in tasks.values()
            if not task.everyone
            for number in range(1, study.overlap + 1)
        ),
        batch_size=ROWS_AT_ONCE,
    )
    TaskItem.objects.bulk_create(
        (
            TaskItem(task_id=task.pk, item_id=item, position=position)
            for text, task in tasks.items()
            for position, item in enumerate(fresh[text])
        ),
        batch_size=ROWS_AT_ONCE,
    )


def in_order(texts: Sequence[Text], *, by_topic: bool = False) -> list[Text]:
    """Put the texts into the order in which they are handed out.

    A report whose sub-questions are asked is followed by the passages that wait for it, while it is fresh in
    mind; after each such group comes one of the next topic, or with `by_topic` the rest of the same. Of a task type
    that goes topic after topic, all texts of a topic come together, in an order drawn at random.
    """
    awaited = {text.report: text for text in texts if text.task_type == TaskType.ANSWERABILITY}
    waiting: dict[Text, list[Text]] = defaultdict(list)
    for text in texts:
        if text.after in awaited:
            waiting[awaited[text.after]].append(text)
    leading: dict[str, dict[int, list[list[Text]]]] = defaultdict(lambda: defaultdict(list))
    for text in as_if_drawn(texts):
        if text.after not in awaited:
            leading[text.task_type][text.topic].append([text, *waiting[text]])
    ordered: list[Text] = []
    for task_type, topics in leading.items():
        if RULES[task_type].topic_after_topic:
            for of_topic in topics.values():
                ordered += chain.from_iterable(random.SystemRandom().sample(of_topic, len(of_topic)))
            continue
        for groups in zip_longest(*topics.values(), fillvalue=()):
            ordered += chain.from_iterable(groups)
    if by_topic:
        first = {text.topic: place for place, text in reversed(list(enumerate(ordered)))}
        ordered.sort(key=lambda text: first[text.topic])
    return ordered


def as_if_drawn(texts: Iterable[Text]) -> list[Text]:
    """Put the reports of each topic, and the pairs of them, in an order that does not say whose they are.

    Topics stay in their order; so do parts of a report, and passages, whose pool has one of its own.
    """
    groups: dict[tuple[object, ...], list[Text]] = defaultdict(list)
    for text in texts:
        groups[text.task_type, text.topic, text.passage is None].append(text)
    for (*_, by_lot), group in groups.items():
        if by_lot:
            group.sort(key=lambda text: hidden_order(text.topic_id, text.report or text.name))
    return list(chain.from_iterable(groups.values()))


def items_for_training(study: Study) -> set[int]:
    """Return the keys of the items that are for training alone, and so are never asked as work."""
    training = GoldGrade.objects.filter(item__study=study, purpose=GoldGrade.Purpose.TRAINING)
    return set(training.values_list("item_id", flat=True))
