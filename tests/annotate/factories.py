"""Makes tasks with their items and places, and puts them into people's hands."""

from __future__ import annotations

from datetime import UTC, datetime

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.models import Assignment, Enrolment, GuidelineReading, Place, Task, TaskItem
from annotate.work.saving import save_choice
from collection.judgments.services import Span
from collection.models import Criterion, Passage, Rater, Report, RubricElement, Run, Study, Topic, User
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES
from tests.factories import an_item, rater_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def an_open_study(study: Study) -> Study:
    study.state = Study.State.OPEN
    study.save()
    return study


def enrolled(user: User, study: Study) -> Rater:
    """Enrol the person, who has read the guidelines, and return the rater they are."""
    Enrolment.objects.get_or_create(study=study, user=user)
    for guideline in study.guidelines.all():
        GuidelineReading.objects.get_or_create(guideline=guideline, user=user, defaults={"read_at": NOON})
    return rater_of(user)


def a_task(
    study: Study, task_type: str, text: Report | Passage, *, topic: Topic | None = None, k: int = 3, **fields: object
) -> Task:
    """A task about the text with all rubric elements of its topic that the task type asks about, and k places."""
    topic = topic or (text.topic if isinstance(text, Report) else a_topic_of(study))
    task = Task.objects.create(
        study=study,
        task_type=task_type,
        topic=topic,
        report=text if isinstance(text, Report) else None,
        passage=text if isinstance(text, Passage) else None,
        position=study.tasks.count(),
        **fields,
    )
    elements = topic.rubric_elements.filter(kind=TASK_TYPES[task_type].element_kind)
    for position, element in enumerate(elements):
        item = an_item(study, task_type, topic=topic, element=element, text=text)
        TaskItem.objects.create(task=task, item=item, position=position)
    Place.objects.bulk_create(Place(task=task, number=number) for number in range(1, k + 1))
    return task


def a_topic_of(study: Study) -> Topic:
    return study.collection.topics.order_by("id")[0]


def a_report_of(study: Study, text: str | None = None) -> Report:
    """The first topic's report, or one with this text."""
    if text is None:
        return Report.objects.get(topic=a_topic_of(study))
    first = Run.objects.filter(collection=study.collection)[0]
    run = Run.objects.create(
        collection=study.collection, system=first.system, name=f"run-{study.collection.runs.count()}"
    )
    return Report.objects.create(run=run, topic=a_topic_of(study), text=text)


def a_passage_of(study: Study) -> Passage:
    return study.collection.passages.order_by("id")[0]


def a_report_task(study: Study, text: str | None = None, *, k: int = 3) -> Task:
    return a_task(study, TaskType.ANSWERABILITY, a_report_of(study, text), k=k)


def a_rating_task(study: Study, *, after: Task | None = None, k: int = 3) -> Task:
    return a_task(study, TaskType.RATING, a_passage_of(study), k=k, after=after)


def a_key_point_task(study: Study, *, k: int = 3) -> Task:
    return a_task(study, TaskType.KEY_POINT, a_passage_of(study), k=k)


def in_hands_of(user: User, task: Task) -> Assignment:
    """Enrol the person in the open study and claim what comes next, which must be this task."""
    rater = enrolled(user, an_open_study(task.study))
    assignment = claim_next(study=task.study, rater=rater, at=NOON)
    assert assignment is not None
    assert assignment.task == task
    return assignment


def the_criterion(study: Study, name: str) -> Criterion:
    return study.criteria.select_related("scale").get(name=name)


def span_of(text: str | None, quote: str) -> Span:
    """The first place of the quote in the text."""
    assert text is not None
    start = text.index(quote)
    return Span(start, start + len(quote), quote)


def answer_report(assignment: Assignment, grades: list[int]) -> None:
    """Answer a report's sub-questions in their order, marking the first word for what is answerable."""
    report = assignment.task.report
    assert report is not None
    for asked, grade in zip(assignment.asked.select_related("item"), grades, strict=True):
        save_choice(
            assignment=assignment,
            item=asked.item,
            criterion=the_criterion(assignment.task.study, "answerability"),
            grade=grade,
            spans=[span_of(report.text, report.text.split()[0])] if grade else [],
            at=NOON,
        )


def a_submitted_report(assignment: Assignment, grades: list[int]) -> Assignment:
    answer_report(assignment, grades)
    submit_assignment(assignment=assignment, at=NOON)
    return assignment


def elements_of(task: Task) -> list[RubricElement]:
    return [row.item.element for row in task.task_items.select_related("item__element") if row.item.element]
