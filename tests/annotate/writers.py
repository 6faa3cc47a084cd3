"""A study of written answers, and people who write and revise them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.models import Assignment, Enrolment
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from annotate.task_types.writing import CONFIRMATIONS
from annotate.work.saving import SavedChoice, save_choice
from collection.judgments.services import Span, Written
from collection.models import Collection, Passage, RankedPassage, Run, Study, System, Topic, User
from collection.texts.sentences import sentences_of
from tests.annotate.factories import NOON, enrolled, the_criterion
from tests.factories import rater_of

# Five sentences; a pair outside the first 65,536 characters and a small letter after an abbreviation are in it.
PASSAGE = (
    "The old bridge was built of oak in 1752. It burned down 🔥 twice, e.g. in 1801. "
    "The town then asked a mason, Dr. Ray, for a stone one. He finished it in 1809. Today it carries a road."
)
COMPLETE, PARTIAL, TOO_DIFFICULT = 5, 4, 3
KEPT, CHANGED, SKIPPED = 0, 1, -1
ALL_CONFIRMED = tuple(CONFIRMATIONS)
ANSWER = "The first bridge was made of oak, the second of stone."


def a_collection_of_questions(*, owner: User, n: int = 1) -> Collection:
    """Questions with one passage each, which a run ranks first."""
    collection = Collection.objects.create(name="questions", title="Questions", owner=owner)
    run = Run.objects.create(
        collection=collection, system=System.objects.create(collection=collection, name="gold"), name="gold"
    )
    for number in range(n):
        topic = Topic.objects.create(
            collection=collection, topic_id=f"q{number}", request=f"what were the bridges of town {number} made of"
        )
        passage = Passage.objects.create(
            collection=collection, passage_id=f"p{number}", title=f"The bridges of town {number}", text=PASSAGE
        )
        RankedPassage.objects.create(run=run, topic=topic, passage_id=passage.passage_id, rank=1, score=1)
    return collection


def a_study_of_writing(
    *,
    owner: User,
    people: Sequence[User] = (),
    n: int = 1,
    overlap: int = 1,
    task_types: Sequence[str] = ("written_answer", "answer_revision"),
    guidelines: str = "Write *short* answers.",
    **choices: Any,
) -> Study:
    """An open study in which these people write answers and revise one another's."""
    study = make_study(
        StudyDesign(
            collection=a_collection_of_questions(owner=owner, n=n),
            name="bridges-in-words",
            title="Bridges in words",
            task_types=task_types,
            overlap=overlap,
            guidelines=guidelines,
            **choices,
        ),
        assessors=people,
        by=owner,
        at=NOON,
    )
    open_study(study=study, at=NOON)
    study.refresh_from_db()
    for person in people:
        enrolled(person, study)
    return study


def next_of(user: User, study: Study) -> Assignment:
    """Claim what comes next for the person, which must be there."""
    assignment = claim_next(study=study, rater=rater_of(user), at=NOON)
    assert assignment is not None
    return assignment


def sentence_spans(passage: Passage, numbers: Sequence[int]) -> list[Span]:
    """The passage's sentences of these numbers, from 0."""
    sentences = sentences_of(passage)
    return [sentences[number] for number in numbers]


def save(
    assignment: Assignment,
    grade: float | None,
    *,
    sentences: Sequence[int] = (),
    text: str = "",
    confirmed: Sequence[str] = (),
    seconds: float | None = None,
) -> SavedChoice:
    """Save what is on the page of a written answer or a revision."""
    item = assignment.asked.select_related("item__passage", "item__answer_to_revise").get().item
    assert item.passage is not None
    name = "outcome" if assignment.task.task_type == "written_answer" else "revision"
    return save_choice(
        assignment=assignment,
        item=item,
        criterion=the_criterion(assignment.task.study, name),
        grade=grade,
        spans=sentence_spans(item.passage, sentences),
        written=Written(text, tuple(confirmed)),
        seconds=seconds,
        at=NOON + timedelta(seconds=seconds or 0),
    )


def answered(
    user: User, study: Study, *, sentences: Sequence[int] = (0, 2), text: str = ANSWER, grade: float = COMPLETE
) -> Assignment:
    """Let the person answer what comes next, and submit it."""
    assignment = next_of(user, study)
    save(assignment, grade, sentences=sentences, text=text, confirmed=ALL_CONFIRMED)
    submit_assignment(assignment=assignment, at=NOON)
    assignment.refresh_from_db()
    return assignment


def leave(user: User, study: Study) -> None:
    Enrolment.objects.filter(study=study, user=user).delete()
