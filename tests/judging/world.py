"""Items for judges, and what tests do with jobs again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from django.utils.timezone import now

from collection.models import Criterion, Item, Passage, Report, RubricElement, Study
from collection.models.studies import TaskType
from judging.engines import Engine, EngineState, GradeRequest, Reply
from judging.grading.jobs import start_job
from judging.grading.worker import take_turn
from judging.judges.registry import make_judge
from judging.models import GradingJob, Judge
from tests.factories import an_item


def with_items(study: Study) -> Study:
    """Give the study every report and every passage with its topic's sub-questions, and each key point's passage."""
    collection = study.collection
    for report in Report.objects.filter(run__collection=collection).select_related("topic"):
        for element in report.topic.rubric_elements.filter(kind=RubricElement.Kind.SUB_QUESTION):
            an_item(study, TaskType.ANSWERABILITY, topic=report.topic, element=element, text=report)
    for passage in Passage.objects.filter(collection=collection):
        topic = collection.topics.get(topic_id=passage.passage_id.split("-")[0])
        for element in topic.rubric_elements.filter(kind=RubricElement.Kind.SUB_QUESTION):
            an_item(study, TaskType.RATING, topic=topic, element=element, text=passage)
        for span in passage.element_spans.select_related("element"):
            an_item(study, TaskType.KEY_POINT, topic=topic, element=span.element, text=passage)
    return study


def many_items(study: Study, count: int) -> None:
    """Give the study so many items of one report, each with a sub-question of its own."""
    report = Report.objects.filter(run__collection=study.collection).select_related("topic").first()
    assert report is not None
    elements = RubricElement.objects.bulk_create(
        RubricElement(
            topic=report.topic,
            kind=RubricElement.Kind.SUB_QUESTION,
            element_id=f"many-{number}",
            position=1000 + number,
            text=f"Where is fact {number} of the subject?",
        )
        for number in range(count)
    )
    Item.objects.bulk_create(
        Item(
            study=study,
            task_type=TaskType.ANSWERABILITY,
            item_id=f"many/{element.element_id}",
            topic=report.topic,
            element=element,
            report=report,
        )
        for element in elements
    )


def criterion_of(study: Study, name: str = "answerability") -> Criterion:
    return study.criteria.get(name=name)


def a_lexical_judge(criterion: Criterion) -> Judge:
    judge, _ = make_judge(
        engine=Judge.Engine.LEXICAL,
        task_type=criterion.task_type,
        criterion_name=criterion.name,
        scale=criterion.scale,
    )
    return judge


def a_job(study: Study, criterion_name: str = "answerability", *, items: Iterable[int] | None = None) -> GradingJob:
    criterion = criterion_of(study, criterion_name)
    return start_job(criterion=criterion, judge=a_lexical_judge(criterion), items=items, by=None, at=now())


class ScriptedEngine:
    """Replies what a function says, and remembers which items it was asked about."""

    def __init__(self, reply_to: Callable[[GradeRequest], Reply]) -> None:
        self.reply_to = reply_to
        self.asked: list[int] = []

    def state(self) -> EngineState:
        return EngineState(available=True)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for request in requests:
            if stopping():
                return
            self.asked.append(request.item_id)
            yield request, self.reply_to(request)


def saying(text: str) -> ScriptedEngine:
    """An engine that always replies this."""
    return ScriptedEngine(lambda request: Reply(text=text, finish_reason="stop"))


def work_through(job: GradingJob, engine: Engine | None = None) -> GradingJob:
    """Do the job's turns until none is wanted, as one worker would, and return the job as it is then."""
    from judging.engines.registry import engine_of

    job.refresh_from_db()
    while take_turn(
        job_id=job.pk,
        generation=job.generation,
        engine_for=lambda judge: engine or engine_of(judge, by=None),
        seconds=5,
    ):
        pass
    job.refresh_from_db()
    return job
