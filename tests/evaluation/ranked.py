"""A small study in which three systems are scored by people and by a judge."""

from __future__ import annotations

from collection.models import (
    Criterion,
    Item,
    Passage,
    RankedPassage,
    Rater,
    Report,
    RubricElement,
    Run,
    Study,
    System,
    Topic,
)
from tests.evaluation.judged import criterion_of, graded_criterion, judge_items
from tests.factories import a_judge_rater, new_item

SYSTEMS = ("best", "middle", "worst")


def three_systems(study: Study, people: list[Rater]) -> Rater:
    """Six topics of three sub-questions and three passages; `best` answers most. Returns the judge, who differs.

    People's yes: best 3 of 3, middle 2 (1 on the last topic), worst 1 (0 on the last). The judge finds the same in
    middle and worst, and only one answer in best. People rate passage n with 5 on sub-question n, and rankings put the
    passages in the order 0 1 2, 1 2 and 2. One of the judge's ratings of each topic's passages is ungraded.
    """
    collection = study.collection
    Report.objects.filter(run__collection=collection).delete()
    Run.objects.filter(collection=collection).delete()
    System.objects.filter(collection=collection).delete()
    judge = a_judge_rater(collection, "small-judge")
    judge.attributes = {"family": "grey"}
    judge.save()
    topics = [*collection.topics.order_by("id"), *(_a_topic(study, f"t{number}") for number in range(2, 6))]
    asked = {topic: _asked(topic) for topic in topics}
    ranked: list[RankedPassage] = []
    items: list[Item] = []
    by_people: list[float | None] = []
    by_judge: list[float | None] = []
    for place, system in enumerate(SYSTEMS):
        family = "grey" if system == "worst" else ""
        made = System.objects.create(collection=collection, name=system, family=family)
        run = Run.objects.create(collection=collection, system=made, name=system)
        for topic in topics:
            ranked += [
                RankedPassage(run=run, topic=topic, passage_id=name, rank=rank, score=10 - rank)
                for rank, name in enumerate(_passages(topic)[place:], start=1)
            ]
            report = Report.objects.create(run=run, topic=topic, text=f"{system} says much about it.")
            yes = 3 - place - (topic == topics[-1] and place > 0)
            items += [new_item(study, "answerability", topic=topic, element=one, text=report) for one in asked[topic]]
            by_people += _first(yes, value=1)
            by_judge += _first(1 if system == "best" else yes, value=4)
    RankedPassage.objects.bulk_create(ranked)
    Item.objects.bulk_create(items)
    for rater in people:
        judge_items(criterion_of(study), rater, items, by_people)
    judge_items(_graded(study), judge, items, by_judge)
    _judge_passages(study, asked, people[0], judge)
    return judge


def _a_topic(study: Study, name: str) -> Topic:
    topic = Topic.objects.create(collection=study.collection, topic_id=name, request=f"Report on {name}.")
    for position in range(3):
        RubricElement.objects.create(
            topic=topic, kind="sub_question", element_id=f"{name}-q{position}", position=position, text="What is it?"
        )
    return topic


def _asked(topic: Topic) -> list[RubricElement]:
    return list(topic.rubric_elements.filter(kind="sub_question").order_by("position"))


def _passages(topic: Topic) -> list[str]:
    return [f"{topic.topic_id}-p{number}" for number in range(3)]


def _first(yes: int, *, value: float) -> list[float | None]:
    return [value if place < yes else 0 for place in range(3)]


def _graded(study: Study) -> Criterion:
    stored = study.criteria.filter(name="report_rating").select_related("study__collection", "scale").first()
    return stored or graded_criterion(study)


def _judge_passages(study: Study, asked: dict[Topic, list[RubricElement]], person: Rater, judge: Rater) -> None:
    items: list[Item] = []
    for topic, elements in asked.items():
        for name in _passages(topic):
            passage, _ = Passage.objects.get_or_create(
                collection=study.collection, passage_id=name, defaults={"text": f"{name} says it."}
            )
            items += [new_item(study, "rating", topic=topic, element=element, text=passage) for element in elements]
    Item.objects.bulk_create(items)
    grades: list[float | None] = [5 if place % 4 == 0 else 0 for place in range(9)]
    judge_items(criterion_of(study, "rating"), person, items, grades * len(asked))
    judge_items(criterion_of(study, "rating"), judge, items, [*grades[:-1], None] * len(asked))
