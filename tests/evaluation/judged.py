"""Small judged studies for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from collection.models import Criterion, Item, Judgment, RankedPassage, Rater, Report, RubricElement, Run, Study
from tests.factories import a_judge_rater, an_item

# Queries of a computation besides its own: three fingerprints of the data (when it is asked for, before and after), and
# its study and criterion.
FINGERPRINTS = 3 * 33 + 2
AT = datetime(2025, 5, 3, 12, 0, tzinfo=UTC)


def criterion_of(study: Study, name: str = "answerability") -> Criterion:
    return study.criteria.select_related("study__collection", "scale").get(name=name)


def report_items(study: Study) -> list[Item]:
    """An item for each of the two reports' three sub-questions: six, in the order of topics and positions."""
    return [
        an_item(study, "answerability", topic=report.topic, element=element, text=report)
        for report in Report.objects.filter(run__collection=study.collection).order_by("topic_id")
        for element in report.topic.rubric_elements.filter(kind=RubricElement.Kind.SUB_QUESTION).order_by("position")
    ]


def passage_items(study: Study) -> list[Item]:
    """An item for each topic's first two sub-questions on its first passage: four."""
    return [
        an_item(study, "rating", topic=topic, element=element, text=passage)
        for topic in study.collection.topics.order_by("id")
        for passage in study.collection.passages.filter(passage_id=f"{topic.topic_id}-p0")
        for element in topic.rubric_elements.filter(kind=RubricElement.Kind.SUB_QUESTION, position__lt=2)
    ]


def judge_items(criterion: Criterion, rater: Rater, items: list[Item], grades: list[float | None]) -> None:
    """Record the grades, in the order of the items; None is an unreadable reply."""
    judgments = [
        Judgment(
            item=item,
            criterion=criterion,
            rater=rater,
            grade=grade,
            ungraded="" if grade is not None else Judgment.Ungraded.UNREADABLE,
            judged_at=AT,
        )
        for item, grade in zip(items, grades, strict=True)
    ]
    Judgment.objects.bulk_create(judgments)


def judged_by(study: Study, ada: Rater, ben: Rater) -> Study:
    """Two people and a judge grade six items; one of the judge's replies cannot be read."""
    items = report_items(study)
    criterion = criterion_of(study)
    judge_items(criterion, ada, items, [1, 1, 0, 0, 1, 0])
    judge_items(criterion, ben, items, [1, 0, 0, 0, 1, 1])
    judge_items(criterion, a_judge_rater(study.collection, "small-judge"), items, [1, 1, 0, 1, None, 0])
    return study


def graded_criterion(study: Study, **fields: Any) -> Criterion:
    """A criterion on which a judge grades from 0 to 5 what people answer with yes or no."""
    rating = criterion_of(study, "rating")
    return Criterion.objects.create(
        study=study,
        task_type="answerability",
        name="report_rating",
        question="How well does the report answer this question?",
        scale=rating.scale,
        threshold=3,
        position=9,
        **fields,
    )


def a_ranking(study: Study, docnos: dict[str, list[str]]) -> Run:
    """Let the collection's run rank these passages for these topics, the best first."""
    run = Run.objects.get(collection=study.collection)
    topics = {topic.topic_id: topic for topic in study.collection.topics.all()}
    RankedPassage.objects.bulk_create(
        RankedPassage(run=run, topic=topics[topic], passage_id=docno, rank=rank, score=100.0 - rank)
        for topic, listed in docnos.items()
        for rank, docno in enumerate(listed, start=1)
    )
    return run
