"""Makes what the tests of quality need: signed-in clients, addresses, many judgments at once."""

from __future__ import annotations

from datetime import timedelta

from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from annotate.models import GoldGrade
from annotate.quality.consent import revise_consent
from annotate.quality.gates import next_gate_name
from annotate.quality.gold import mark_gold
from collection.models import Item, Judgment, Passage, Rater, Report, Study, User
from collection.models.texts import text_hash
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    the_criterion,
)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def gate(study: Study, user: User) -> str | None:
    return next_gate_name(study=study, user=user)


def a_consent(study: Study, rosa: User, words: str = "I take part of my *own* will.") -> None:
    revise_consent(study=study, markdown=words, by=rosa, at=now())


def address(page: str, study: Study, *more: object) -> str:
    return reverse(f"annotate:{page}", args=[study.name, *more])


def first_item(study: Study) -> Item:
    return study.items.order_by("pk")[0]


def grades_by(rater: Rater, study: Study, items: list[Item], grades: list[int], *, seconds: float = 10) -> None:
    criterion = the_criterion(study, "answerability")
    for n, (item, grade) in enumerate(zip(items, grades, strict=True)):
        Judgment.objects.create(
            item=item,
            criterion=criterion,
            rater=rater,
            grade=grade,
            judged_at=NOON + timedelta(minutes=n),
            seconds=seconds,
        )


def many_items(study: Study, n: int) -> list[Item]:
    report = first_report(study)
    return Item.objects.bulk_create(
        Item(study=study, task_type="answerability", item_id=f"i{k}", topic=report.topic, report=report)
        for k in range(n)
    )


def first_report(study: Study) -> Report:
    return Report.objects.filter(run__collection=study.collection).order_by("pk")[0]


def training_items(study: Study, rosa: User, *, grades: tuple[int, ...] = (1, 0)) -> list[Item]:
    """Mark the key points of a passage for training, under the criterion “grounded”."""
    task = a_key_point_task(study)
    items = [row.item for row in task.task_items.all()]
    for item, grade in zip(items, grades, strict=False):
        mark_gold(
            item=item,
            criterion=the_criterion(study, "grounded"),
            grade=grade,
            purpose=GoldGrade.Purpose.TRAINING,
            explanation=f"Because it is {grade}.",
            by=rosa,
            at=now(),
        )
    return items[: len(grades)]


def texts_to_train_on(study: Study, rosa: User, n: int) -> list[Item]:
    """Mark so many passages for training, each with one question under “grounded”, whose answer is 1."""
    first = training_items(study, rosa, grades=(1,))[0]
    items = [first]
    for number in range(1, n):
        passage = Passage.objects.create(
            collection=study.collection,
            passage_id=f"train-{number}",
            text=f"{number}",
            text_sha256=text_hash(f"{number}"),
        )
        item = Item.objects.create(
            study=study,
            task_type=first.task_type,
            item_id=f"train-{number}",
            topic=first.topic,
            element=first.element,
            passage=passage,
        )
        mark_gold(
            item=item,
            criterion=the_criterion(study, "grounded"),
            grade=1,
            purpose=GoldGrade.Purpose.TRAINING,
            explanation="Because it is 1.",
            by=rosa,
            at=now(),
        )
        items.append(item)
    return items
