"""Loads the demonstration: its people, its collection, its open study and the simulated labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F

from annotate.assignments.design import Design
from annotate.models import Task
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from annotate.task_types.key_point import ANSWERS
from collection.formats.jsonl import written_line
from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.judgments.services import NewJudgment, Span, add_judgments
from collection.models import Collection, Criterion, Highlight, Item, Judgment, Rater, Study, User
from collection.models.studies import TaskType
from collection.models.texts import text_hash
from collection.questions.guidelines import standard_guidelines
from config.demonstration.answers import load_answers, meant_by, quality_of
from config.demonstration.citations import load_citations, meant_of
from config.demonstration.lines import COLLECTION, collection_lines
from config.demonstration.simulation import (
    ASSESSORS,
    JUDGES,
    JudgedItem,
    SimulatedAssessor,
    SimulatedGrade,
    answer_evaluation,
    confidence,
    looked_for,
    on_its_scale,
    preference,
    shared_words,
    simulated_grades,
    support,
)
from config.demonstration.sources import demonstration_topics
from config.demonstration.suggestions import load_suggestions
from config.demonstration.writing import load_writing
from judging.grading.jobs import start_job
from judging.jobs.available_judges import judge_named
from judging.models import Judge

STUDY = "demonstration"
POOL_STUDY = "demonstration-pool"
BATTLES_STUDY = "demonstration-battles"
RESEARCHER = "rosa"
PEOPLE = ("ada", "ben", "cleo")
OF_SENTENCES = (TaskType.CITATION_SUPPORT, TaskType.CITATION_NEED, TaskType.SENTENCE_NUGGET)
# What simulated raters judge: of the rest, the texts do not say what their author meant.
SIMULATED = (
    TaskType.ANSWERABILITY,
    TaskType.RATING,
    TaskType.KEY_POINT,
    TaskType.RELEVANCE,
    TaskType.NUGGET,
    TaskType.ANSWER_EVALUATION,
    TaskType.CONFIDENCE,
    TaskType.PREFERENCE,
    TaskType.BATTLE,
    *OF_SENTENCES,
)


def quality_of_report(topic: str, system: str) -> float:
    """Return how good the author meant the report to be: 4 for every question answered, less ½ for each mistake."""
    found = demonstration_topics()[topic]
    report = found.reports[system]
    return 4 * len(report.answers) / len(found.asked) - len(report.mistakes) / 2


# Under which criterion two texts are compared, and how good each of them was meant to be.
PAIRS: dict[str, tuple[str, Callable[[str, str], float]]] = {
    TaskType.PREFERENCE: ("preference", quality_of),
    TaskType.BATTLE: ("better", quality_of_report),
}
PASSWORD = "assize-demo"  # noqa: S105 - shown on the sign-in page of a demonstration


@transaction.atomic
def load_demonstration(*, at: datetime) -> Study | None:
    """Load what there is not, all or nothing. Returns None, and touches nothing, where the study is there already."""
    if Study.objects.filter(name=STUDY).exists():
        return None
    rosa, *assessors = make_people()
    collection, _ = Collection.objects.get_or_create(name=COLLECTION.name, defaults={"owner": rosa})
    demonstrators = [user.pk for user in assessors if user.is_demonstration]
    User.objects.filter(pk__in=demonstrators).update(made_for=collection)
    import_texts(collection)
    load_writing(by=rosa, assessors=assessors, at=at)
    pool = load_pool(collection, by=rosa, assessors=assessors, at=at)
    battles = load_battles(collection, by=rosa, assessors=assessors, at=at)
    answers = load_answers(by=rosa, assessors=assessors, at=at)
    citations = load_citations(by=rosa, assessors=assessors, at=at)
    study = make_study(
        StudyDesign(
            collection=collection,
            name=STUDY,
            title="Demonstration: six things worth knowing",
            task_types=[TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT],
            overlap=len(PEOPLE),
            guidelines=standard_guidelines([TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT]),
        ),
        assessors=assessors,
        by=rosa,
        at=at,
    )
    open_study(study=study, at=at)
    hand_out_key_points_early(study)
    for kind, simulated in ((Rater.Kind.ASSESSOR, ASSESSORS), (Rater.Kind.JUDGE, JUDGES)):
        for assessor in simulated:
            for each in (study, pool, battles, answers, citations):
                add_simulated_judgments(each, assessor, kind=kind, at=at)
    load_suggestions(collection, by=rosa, at=at)
    start_baselines(study, "answerability", "grounded", by=rosa, at=at)
    start_baselines(pool, "relevance", "support", by=rosa, at=at)
    start_baselines(answers, "unknown", "faithful", "passage_for_question", "passage_for_answer", by=rosa, at=at)
    start_baselines(citations, "citation_support", by=rosa, at=at)
    return study


def make_people() -> list[User]:
    """Return the researcher and the assessors. Whoever is there already keeps their password and their rights."""
    password = make_password(PASSWORD)
    people = []
    for username in (RESEARCHER, *PEOPLE):
        fresh = {
            "password": password,
            "first_name": username.title(),
            "is_researcher": username == RESEARCHER,
            "is_demonstration": True,
        }
        user, _ = User.objects.get_or_create(username=username, defaults=fresh)
        people.append(user)
    return people


def import_texts(collection: Collection) -> None:
    """Bring the texts in as anybody's would come in: as an Assize JSONL file."""
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(written_line(line) for line in collection_lines())
        file.flush()
        import_collection(file=InputFile(Path(file.name), name="demonstration.jsonl"), collection=collection)


def hand_out_key_points_early(study: Study) -> None:
    """Put a key-point task behind each report and its passages, so that a visitor soon meets all three task types."""
    tasks = list(study.tasks.order_by("position"))
    key_points = iter([task for task in tasks if task.task_type == TaskType.KEY_POINT])
    ordered: list[Task] = []
    for task in tasks:
        if task.task_type == TaskType.ANSWERABILITY and ordered:
            ordered += islice(key_points, 1)
        if task.task_type != TaskType.KEY_POINT:
            ordered.append(task)
    ordered += key_points

    for position, task in enumerate(ordered, start=1):
        task.position = position
    # Out of the way first: no two tasks may have one position, not even for a moment.
    study.tasks.update(position=F("position") + len(tasks))
    Task.objects.bulk_update(ordered, ["position"])


# --- Simulated labels -----------------------------------------------------------------------------


def start_baselines(study: Study, *criteria: str, by: User, at: datetime) -> None:
    """Have the lexical judge grade for real, as soon as there is a worker; on ratings, visitors may start it."""
    for criterion in study.criteria.filter(name__in=criteria).select_related("scale", "study"):
        start_job(criterion=criterion, judge=judge_named(Judge.Engine.LEXICAL.value, criterion), by=by, at=at)


def add_simulated_judgments(study: Study, assessor: SimulatedAssessor, *, kind: Rater.Kind, at: datetime) -> None:
    """Add what the simulated assessor or judge says of every item. It holds no place: those are for people."""
    rater, _ = Rater.objects.get_or_create(
        collection=study.collection,
        kind=kind,
        name=assessor.name,
        defaults={
            "origin": Rater.Origin.SIMULATED,
            "source": assessor.source,
            "attributes": {"simulation": assessor.parameters},
        },
    )
    criteria = {criterion.name: criterion for criterion in study.criteria.select_related("scale")}
    said = list(sayings(study, assessor, criteria))
    add_judgments([NewJudgment(item.pk, criterion.pk, rater.pk, grade, at) for item, criterion, grade, _ in said])
    if spans_of := {item: spans for item, _, _, spans in said if spans}:
        add_highlights(rater, criteria["answerability"], spans_of)


def sayings(
    study: Study, assessor: SimulatedAssessor, criteria: dict[str, Criterion]
) -> Iterator[tuple[Item, Criterion, float, Sequence[Span]]]:
    """Yield the item, the criterion, the grade and the spans of each simulated judgment."""
    texts = ("topic", "element", "passage", "report__run__system", "other_report__run", "sentence")
    for item in study.items.filter(task_type__in=SIMULATED).select_related(*texts):
        for said in simulated_grades_of(item, assessor, criteria):
            yield item, criteria[said.criterion], said.grade, said.spans


def simulated_grades_of(
    item: Item, assessor: SimulatedAssessor, criteria: dict[str, Criterion]
) -> list[SimulatedGrade]:
    if item.task_type in OF_SENTENCES:
        name, meant = meant_of(item)
        return [on_its_scale(assessor, item.item_id, name, meant, criteria[name].scale.values)]
    if item.task_type in PAIRS:
        criterion, quality = PAIRS[item.task_type]
        assert item.report is not None
        assert item.other_report is not None
        first, second = (quality(item.topic.topic_id, one.run.name) for one in (item.report, item.other_report))
        return [preference(assessor, item.item_id, criterion, first, second)]
    if item.task_type == TaskType.NUGGET:
        assert item.report is not None
        assert item.element is not None
        return [support(assessor, item.item_id, shared_words(item.element.text, item.report.text or ""))]
    if item.task_type == TaskType.KEY_POINT and item.report and item.element:
        return looked_for(assessor, item.item_id, shared_words(item.element.text, item.report.text or ""))
    text = item.report.run.name if item.report else item.passage.passage_id if item.passage else ""
    if item.task_type == TaskType.ANSWER_EVALUATION:
        return answer_evaluation(assessor, item.item_id, meant_by(item.topic.topic_id, text))
    if item.task_type == TaskType.CONFIDENCE:
        return [confidence(assessor, item.item_id)] if assessor in ASSESSORS else []
    element = item.element.element_id if item.element else ""
    return simulated_grades(assessor, JudgedItem(item.task_type, item.topic.topic_id, text, element))


def add_highlights(rater: Rater, criterion: Criterion, spans: dict[Item, Sequence[Span]]) -> None:
    """Mark the spans in the judged texts."""
    by_item = {item.pk: (text_hash(item.judged_text.text or ""), several) for item, several in spans.items()}
    Highlight.objects.bulk_create(
        Highlight(judgment_id=pk, start=span.start, end=span.end, quote=span.quote, text_sha256=sha256)
        for pk, item in Judgment.objects.filter(rater=rater, criterion=criterion, grade=1).values_list("pk", "item__pk")
        for sha256, several in [by_item[item]]
        for span in several
    )


def load_pool(collection: Collection, *, by: User, assessors: Sequence[User], at: datetime) -> Study:
    """Make and open the study: some passages and reports of every topic, and a few that everyone sees."""
    asked = [TaskType.RELEVANCE, TaskType.NUGGET, TaskType.KEY_POINT]
    study = make_study(
        StudyDesign(
            collection=collection,
            name=POOL_STUDY,
            title="Demonstration: a pool, nuggets and missed points",
            task_types=asked,
            overlap=2,
            sample_sizes={TaskType.RELEVANCE.value: 12, TaskType.NUGGET.value: 6, TaskType.KEY_POINT.value: 6},
            depth=3,
            key_points_in=ANSWERS,
            why_missed=True,
            work=Design(sampling="stratified", control_share=0.1),
            guidelines=standard_guidelines(asked),
        ),
        assessors=assessors,
        by=by,
        at=at,
    )
    open_study(study=study, at=at)
    return study


def load_battles(collection: Collection, *, by: User, assessors: Sequence[User], at: datetime) -> Study:
    """Make and open the study: every two systems' reports on every topic."""
    study = make_study(
        StudyDesign(
            collection=collection,
            name=BATTLES_STUDY,
            title="Demonstration: which report is better?",
            task_types=[TaskType.BATTLE],
            overlap=len(PEOPLE),
            guidelines=standard_guidelines([TaskType.BATTLE]),
        ),
        assessors=assessors,
        by=by,
        at=at,
    )
    open_study(study=study, at=at)
    return study
