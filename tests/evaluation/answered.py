"""A small study of answers: key points, nuggets, grades of answers, preferences and references."""

from __future__ import annotations

from collection.models import (
    Collection,
    Item,
    Judgment,
    Passage,
    Rater,
    Report,
    RubricElement,
    Run,
    Study,
    System,
    Topic,
    User,
    WrittenAnswer,
)
from tests.evaluation.judged import criterion_of, judge_items
from tests.factories import a_study

SYSTEMS = ("long", "short")
TASK_TYPES = ("key_point", "nugget", "answer_evaluation", "preference", "written_answer", "answer_revision")
TEXTS = {"long": "The bridge was built of stone in 1830 by monks.", "short": "I don’t know."}


def an_answered_study(rosa: User) -> Study:
    """Two systems on four topics: two domains, the last question unanswerable. There are no judgments yet."""
    collection = Collection.objects.create(name="answers", title="Answers", owner=rosa)
    for name in SYSTEMS:
        system = System.objects.create(collection=collection, name=name)
        Run.objects.create(collection=collection, system=system, name=name)
    for number in range(4):
        attributes: dict[str, object] = {"domain": "history" if number < 2 else "nature"}
        if number < 3:
            attributes["references"] = ["Monks built the bridge of stone."]
        topic = Topic.objects.create(
            collection=collection,
            topic_id=f"q{number}",
            request=f"Question {number}?",
            attributes=attributes | {"answerable": number < 3, "passage_id": f"p{number}"},
        )
        Passage.objects.create(
            collection=collection, passage_id=f"p{number}", text="The bridge was built of stone in 1830 by monks."
        )
        for run in collection.runs.all():
            Report.objects.create(run=run, topic=topic, text=TEXTS[run.name])
    return a_study(collection, name="answers-study", task_types=TASK_TYPES)


def element(topic: Topic, kind: str, position: int, **fields: object) -> RubricElement:
    return RubricElement.objects.create(
        topic=topic,
        kind=kind,
        element_id=f"{topic.topic_id}-{kind}-{position}",
        position=position,
        text="It is.",
        **fields,
    )


def an_item(study: Study, task_type: str, topic: Topic, **parts: object) -> Item:
    number = study.items.count()
    return Item.objects.create(study=study, task_type=task_type, item_id=f"i{number}", topic=topic, **parts)


def report_of(topic: Topic, system: str) -> Report:
    return Report.objects.get(topic=topic, run__name=system)


def give(study: Study, criterion: str, rater: Rater, item: Item, grade: float | None) -> Judgment:
    judge_items(criterion_of(study, criterion), rater, [item], [grade])
    return Judgment.objects.get(criterion=criterion_of(study, criterion), rater=rater, item=item)


def write(study: Study, rater: Rater, item: Item, text: str, *, outcome: float = 5) -> None:
    judgment = give(study, "outcome", rater, item, outcome)
    if text:
        WrittenAnswer.objects.create(judgment=judgment, text=text)
