"""A small world for the evaluation of answers: one question, three systems, gold or retrieved passages."""

from __future__ import annotations

from datetime import UTC, datetime

from annotate.assignments.assignments import claim_next, reveal_passages
from annotate.models import Assignment, AssignmentItem
from annotate.studies.layout import lay_out_tasks
from annotate.work.saving import save_choice
from collection.models import Collection, Passage, RankedPassage, Report, Run, Study, System, Topic, User
from collection.models.studies import TaskType
from tests.annotate.factories import an_open_study, enrolled, the_criterion
from tests.factories import a_study

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SYSTEMS = ("alder", "birch", "cedar")
ITEM_TYPES = ("answer_evaluation", "question_passage", "passage_use", "preference")


def a_question(
    owner: User, *, systems: tuple[str, ...] = SYSTEMS, retrieved: bool = False, name: str = "humming"
) -> Collection:
    """Why bridges hum: an answer of each system, and four passages, of which the first is gold or three are ranked."""
    collection = Collection.objects.create(name=name, owner=owner)
    topic = Topic.objects.create(
        collection=collection,
        topic_id="hum",
        title="Humming bridges",
        request="Why do some bridges hum?",
        attributes={"passages": ["wind"]},
    )
    for passage in ("wind", "rails", "deck", "paint"):
        Passage.objects.create(
            collection=collection, passage_id=passage, title=passage.title(), text=f"The {passage} makes a bridge hum."
        )
    for number, system_name in enumerate(systems):
        system = System.objects.create(collection=collection, name=system_name)
        run = Run.objects.create(collection=collection, system=system, name=f"{system_name}-run")
        Report.objects.create(run=run, topic=topic, text=f"Reason {number}: the wind plays on the rails.")
        if retrieved:
            for rank, passage in enumerate(("wind", "rails", "deck", "paint"), start=1):
                RankedPassage.objects.create(run=run, topic=topic, passage_id=passage, rank=rank, score=1 / rank)
    return collection


def a_study_of_answers(
    owner: User,
    *,
    systems: tuple[str, ...] = SYSTEMS,
    retrieved: bool = False,
    name: str = "humming",
    confidence: bool = False,
) -> Study:
    """An open study of the question with its task laid out."""
    collection = a_question(owner, systems=systems, retrieved=retrieved, name=name)
    item_types = (*ITEM_TYPES, "confidence") if confidence else ITEM_TYPES
    study = a_study(collection, name=name, task_types=item_types, overlap=2)
    Study.objects.filter(pk=study.pk).update(attributes={"confidence": True} if confidence else {})
    study.refresh_from_db()
    lay_out_tasks(study=study, at=NOON)
    return an_open_study(study)


def in_hands(user: User, study: Study) -> Assignment:
    assignment = claim_next(study=study, rater=enrolled(user, study), at=NOON)
    assert assignment is not None
    return assignment


def rows_of(assignment: Assignment, task_type: TaskType) -> list[AssignmentItem]:
    rows = assignment.asked.select_related("item__report__run").filter(item__task_type=task_type)
    return list(rows.order_by("position"))


def say(assignment: Assignment, row: AssignmentItem, **grades: float | None) -> None:
    for name, grade in grades.items():
        save_choice(
            assignment=assignment,
            item=row.item,
            criterion=the_criterion(assignment.task.study, name),
            grade=grade,
            at=NOON,
        )


def judge_the_answers_alone(assignment: Assignment) -> None:
    """Answer the whole first step: every answer is natural (3) and appropriate (4)."""
    for row in rows_of(assignment, TaskType.ANSWER_EVALUATION):
        say(assignment, row, unknown=0, incoherent=0, natural=3, appropriate=4)


def see_the_passages(assignment: Assignment) -> None:
    judge_the_answers_alone(assignment)
    reveal_passages(assignment=assignment, at=NOON)
    assignment.refresh_from_db()


def judge_the_rest(assignment: Assignment) -> None:
    for row in rows_of(assignment, TaskType.ANSWER_EVALUATION):
        say(assignment, row, faithful=2)
    for row in rows_of(assignment, TaskType.CONFIDENCE):
        say(assignment, row, confident=3)
    for row in rows_of(assignment, TaskType.QUESTION_PASSAGE):
        say(assignment, row, passage_for_question=1)
    for row in rows_of(assignment, TaskType.PASSAGE_USE):
        say(assignment, row, passage_for_answer=0)
    for row in rows_of(assignment, TaskType.PREFERENCE):
        say(assignment, row, preference=1)
