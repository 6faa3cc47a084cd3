"""What becomes of a choice: a judgment, a draft or nothing; and of an assignment at its end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from annotate.assignments.assignments import Unfinished, claim_next, return_assignment, submit_assignment
from annotate.assignments.errors import AssignmentReturned, NotAsked, StudyClosed
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment, Draft, Place
from annotate.work.saving import SavedChoice, save_choice
from collection.judgments.services import GradeNotOnScale, HighlightDoesNotFit, Span
from collection.models import EarlierJudgment, Judgment, Study, User
from collection.questions.shapes import RUBRIC_0_5
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_rating_task,
    a_report_task,
    answer_report,
    in_hands_of,
    span_of,
    the_criterion,
)

LATER = NOON + timedelta(minutes=1)
FACT = "Fact 0 of subject 0 is here. 🌉"


@pytest.fixture
def reading(study: Study, ada: User) -> Assignment:
    """Ada reads the report of the first topic."""
    return in_hands_of(ada, a_report_task(study))


@pytest.fixture
def verifying(study: Study, ada: User) -> Assignment:
    """Ada verifies the key points of a passage."""
    return in_hands_of(ada, a_key_point_task(study))


def choose(
    assignment: Assignment, criterion: str, grade: float | None, *quotes: str, n: int = 0, **fields: Any
) -> SavedChoice:
    """Save a choice about the assignment's n-th item."""
    task = assignment.task
    text = (task.report or task.passage).text  # type: ignore[union-attr]
    return save_choice(
        assignment=assignment,
        item=assignment.asked.all()[n].item,
        criterion=the_criterion(task.study, criterion),
        grade=grade,
        **{"spans": [span_of(text, quote) for quote in quotes], "at": NOON, **fields},
    )


# --- Answerability ------------------------------------------------------------------------------


def test_unanswerable_is_a_judgment_at_once(reading: Assignment) -> None:
    saved = choose(reading, "answerability", 0, seconds=7.5, guidelines=1, at=LATER)

    judgment = Judgment.objects.get()
    assert saved == SavedChoice("judged", "")
    assert (judgment.grade, judgment.seconds, judgment.rater) == (0, 7.5, reading.rater)
    assert judgment.guideline is not None
    assert judgment.guideline.version == 1


def test_answerable_without_a_highlight_is_a_draft(reading: Assignment) -> None:
    saved = choose(reading, "answerability", 1)

    assert saved == SavedChoice("draft", "Mark the words that answer it at least once.")
    assert not Judgment.objects.exists()
    assert Draft.objects.get().grade == 1


def test_the_first_highlight_makes_it_a_judgment(reading: Assignment) -> None:
    choose(reading, "answerability", 1)

    saved = choose(reading, "answerability", 1, FACT)

    highlight = Judgment.objects.get().highlights.get()
    assert saved.state == "judged"
    assert (highlight.start, highlight.end, highlight.quote) == (0, 30, FACT)
    assert not Draft.objects.exists()


def test_highlights_may_overlap(reading: Assignment) -> None:
    choose(reading, "answerability", 1, FACT, "subject 0 is")

    assert [h.quote for h in Judgment.objects.get().highlights.all()] == [FACT, "subject 0 is"]


def test_removing_the_last_highlight_takes_the_judgment_back_into_a_draft(reading: Assignment) -> None:
    choose(reading, "answerability", 1, FACT)

    saved = choose(reading, "answerability", 1)

    assert saved.state == "draft"
    assert not Judgment.objects.exists()
    assert EarlierJudgment.objects.get().highlights[0]["quote"] == FACT


def test_taking_the_answer_back_leaves_nothing_but_history(reading: Assignment) -> None:
    choose(reading, "answerability", 0)

    saved = choose(reading, "answerability", None)

    assert saved.state == "empty"
    assert not Judgment.objects.exists()
    assert not Draft.objects.exists()
    assert EarlierJudgment.objects.get().grade == 0


def test_the_same_choice_twice_changes_nothing(reading: Assignment) -> None:
    choose(reading, "answerability", 1, FACT)

    choose(reading, "answerability", 1, FACT)

    assert Judgment.objects.count() == 1
    assert not EarlierJudgment.objects.exists()


def test_an_unanswerable_question_takes_no_highlight(reading: Assignment) -> None:
    with pytest.raises(NotAsked, match="Highlights need the answer “answerable”"):
        choose(reading, "answerability", 0, FACT)

    assert not Judgment.objects.exists()


@pytest.mark.parametrize("span", [Span(0, 4, "Fakt"), Span(0, 4000, "Fact"), Span(3, 3, "")])
@pytest.mark.parametrize("grade", [1, None])
def test_a_highlight_that_does_not_stand_in_the_text_is_refused(
    reading: Assignment, span: Span, grade: float | None
) -> None:
    with pytest.raises(HighlightDoesNotFit):
        choose(reading, "answerability", grade, spans=[span])

    assert not Judgment.objects.exists()
    assert not Draft.objects.exists()


def test_a_grade_off_the_scale_is_refused(reading: Assignment) -> None:
    with pytest.raises(GradeNotOnScale):
        choose(reading, "answerability", 2, FACT)


def test_another_criterion_is_refused(reading: Assignment) -> None:
    with pytest.raises(NotAsked, match="does not ask for “How well does the passage answer"):
        choose(reading, "rating", 3)


def test_another_tasks_item_is_refused(reading: Assignment, study: Study) -> None:
    stranger = a_report_task(study, "Another report.").task_items.all()[0].item

    with pytest.raises(NotAsked, match="does not ask about this item"):
        save_choice(
            assignment=reading, item=stranger, criterion=the_criterion(study, "answerability"), grade=0, at=NOON
        )


def test_a_paused_study_lets_assessors_finish_what_they_hold(reading: Assignment) -> None:
    Study.objects.update(state=Study.State.PAUSED)

    saved = choose(reading, "answerability", 0)

    assert saved.state == "judged"


def test_a_closed_study_takes_no_choice(reading: Assignment) -> None:
    Study.objects.update(state=Study.State.CLOSED)

    with pytest.raises(StudyClosed, match="is closed"):
        choose(reading, "answerability", 0)


# --- Rating -------------------------------------------------------------------------------------


def test_a_rating_needs_no_highlight(study: Study, ada: User) -> None:
    rating = in_hands_of(ada, a_rating_task(study))

    saved = choose(rating, "rating", 4)

    assert saved.state == "judged"


def test_a_rationale_marked_before_the_grade_is_kept(study: Study, ada: User) -> None:
    rating = in_hands_of(ada, a_rating_task(study))

    marked = choose(rating, "rating", None, "It says little else.")
    graded = choose(rating, "rating", 2, "It says little else.")

    assert marked == SavedChoice("draft", "Choose an answer.")
    assert graded.state == "judged"
    assert Judgment.objects.get().highlights.get().quote == "It says little else."


def test_a_rating_shows_what_the_assessor_marked_in_the_report(study: Study, ada: User) -> None:
    report = a_report_task(study)
    a_rating_task(study, after=report)
    read = in_hands_of(ada, report)
    answer_report(read, [1, 0, 0])
    submit_assignment(assignment=read, at=NOON)
    assignment = claim_next(study=study, rater=read.rater, at=NOON)
    assert assignment is not None

    questions = screen_of(assignment).questions

    earlier = {question.earlier.answer: question.earlier for question in questions if question.earlier}
    assert earlier["answerable"].quotes == ["Fact"]
    assert earlier["answerable"].assignment_id == read.pk
    assert earlier["unanswerable"].quotes == []


# --- Key point ----------------------------------------------------------------------------------


def test_utility_is_refused_before_the_point_is_found_grounded(verifying: Assignment) -> None:
    with pytest.raises(NotAsked, match="only after a positive answer"):
        choose(verifying, "utility", 1)


def test_utility_follows_grounded(verifying: Assignment) -> None:
    choose(verifying, "grounded", 1)

    choose(verifying, "utility", -1)

    assert sorted(Judgment.objects.values_list("criterion__name", "grade")) == [("grounded", 1), ("utility", -1)]


@pytest.mark.parametrize("grade", [0, None])
def test_taking_grounded_back_takes_utility_with_it(verifying: Assignment, grade: float | None) -> None:
    choose(verifying, "grounded", 1)
    choose(verifying, "utility", 1)

    choose(verifying, "grounded", grade)

    assert not Judgment.objects.filter(criterion__name="utility").exists()
    assert EarlierJudgment.objects.filter(criterion__name="utility").exists()


def test_a_key_point_takes_no_highlight(verifying: Assignment) -> None:
    with pytest.raises(NotAsked, match="takes no highlights"):
        choose(verifying, "grounded", 1, "Passage 0")


# --- The end ------------------------------------------------------------------------------------


def test_an_unfinished_assignment_is_not_submitted(reading: Assignment) -> None:
    choose(reading, "answerability", 0)
    choose(reading, "answerability", 1, n=1)

    with pytest.raises(Unfinished) as unfinished:
        submit_assignment(assignment=reading, at=NOON)

    assert [question.number for question in unfinished.value.questions] == [2, 3]
    assert "2: Mark the words that answer it" in str(unfinished.value)
    reading.refresh_from_db()
    assert reading.state == Assignment.State.OPEN


def test_a_key_point_that_is_not_grounded_is_finished(verifying: Assignment) -> None:
    choose(verifying, "grounded", 0)
    choose(verifying, "grounded", 1, n=1)
    choose(verifying, "utility", 0, n=1)

    submit_assignment(assignment=verifying, at=NOON)

    verifying.refresh_from_db()
    assert verifying.state == Assignment.State.SUBMITTED


def test_a_grounded_key_point_lacks_its_utility(verifying: Assignment) -> None:
    choose(verifying, "grounded", 0)
    choose(verifying, "grounded", 1, n=1)

    with pytest.raises(Unfinished) as unfinished:
        submit_assignment(assignment=verifying, at=NOON)

    assert [question.number for question in unfinished.value.questions] == [2]


def test_submitting_twice_changes_nothing(reading: Assignment) -> None:
    answer_report(reading, [1, 0, 0])
    submit_assignment(assignment=reading, at=NOON)

    submit_assignment(assignment=reading, at=NOON.replace(hour=13))

    reading.refresh_from_db()
    assert reading.submitted_at == NOON


def test_submitting_adds_up_the_active_time(reading: Assignment) -> None:
    for n, seconds in enumerate([10, 20, 12.5]):
        choose(reading, "answerability", 0, n=n, seconds=seconds, at=LATER)

    submit_assignment(assignment=reading, at=LATER)

    reading.refresh_from_db()
    assert (reading.active_seconds, reading.claimed_seconds) == (42.5, None)


def test_a_submitted_assignment_may_still_be_changed(reading: Assignment) -> None:
    answer_report(reading, [1, 0, 0])
    submit_assignment(assignment=reading, at=NOON)

    saved = choose(reading, "answerability", 0)

    assert saved.state == "judged"
    assert EarlierJudgment.objects.get().grade == 1


def test_returning_frees_the_place_and_keeps_the_answers_in_the_history(reading: Assignment) -> None:
    choose(reading, "answerability", 0)
    choose(reading, "answerability", 1, n=1)

    return_assignment(assignment=reading, at=NOON)

    reading.refresh_from_db()
    assert reading.state == Assignment.State.RETURNED
    assert not Place.objects.filter(holder__isnull=False).exists()
    assert not Judgment.objects.exists()
    assert not Draft.objects.exists()
    assert EarlierJudgment.objects.get().reason == "returned"


def test_a_returned_assignment_takes_nothing(reading: Assignment) -> None:
    return_assignment(assignment=reading, at=NOON)

    with pytest.raises(AssignmentReturned):
        choose(reading, "answerability", 0)
    with pytest.raises(AssignmentReturned):
        submit_assignment(assignment=reading, at=NOON)


# --- How many queries ---------------------------------------------------------------------------


def test_saving_takes_as_many_queries_however_long_the_assignment(
    study: Study, ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    task = a_report_task(study)
    reading = Assignment.objects.select_related("task", "rater").get(pk=in_hands_of(ada, task).pk)
    item = reading.asked.select_related("item__report", "item__passage")[0].item
    criterion = the_criterion(study, "answerability")
    assert task.report is not None
    spans = [span_of(task.report.text, FACT), span_of(task.report.text, "subject"), span_of(task.report.text, "here")]

    with django_assert_num_queries(6):  # a savepoint and its release; hold, read, judgment, highlights
        save_choice(assignment=reading, item=item, criterion=criterion, grade=1, spans=spans, at=NOON)


def test_reading_the_screen_takes_as_many_queries_however_many_answers(
    reading: Assignment, django_assert_max_num_queries: Any
) -> None:
    answer_report(reading, [1, 1, 0])
    stored = Assignment.objects.select_related("task__report", "task__passage").get(pk=reading.pk)

    with django_assert_max_num_queries(6):
        screen = screen_of(stored)

    assert [question.state for question in screen.questions] == ["done"] * 3


def test_people_are_not_asked_what_is_asked_of_judges_alone(study: Study, reading: Assignment) -> None:
    study.criteria.create(
        task_type="answerability", name="report_rating", question="How well?", scale=RUBRIC_0_5.stored(), threshold=3
    )

    assert [criterion.name for criterion in screen_of(reading).criteria] == ["answerability"]
