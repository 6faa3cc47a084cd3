"""Who looks over the work of others reads all that an answer or a pair was judged with."""

from __future__ import annotations

import pytest
from django.test import Client

from annotate.assignments.assignments import submit_assignment
from annotate.models import Assignment
from annotate.review.spot_checks import draw_spot_checks
from collection.models import Judgment, Study, User
from collection.models.studies import TaskType
from tests.annotate.evaluated_answers import (
    NOON,
    a_study_of_answers,
    in_hands,
    judge_the_rest,
    rows_of,
    say,
    see_the_passages,
)


@pytest.fixture
def study(rosa: User) -> Study:
    return a_study_of_answers(rosa, retrieved=True)


def submitted(person: User, study: Study, *, preference: float) -> Assignment:
    assignment = in_hands(person, study)
    see_the_passages(assignment)
    judge_the_rest(assignment)
    for row in rows_of(assignment, TaskType.PREFERENCE):
        say(assignment, row, preference=preference)
    submit_assignment(assignment=assignment, at=NOON)
    return assignment


def test_a_third_person_reads_both_answers_of_a_pair(
    client: Client, rosa: User, ada: User, ben: User, study: Study
) -> None:
    submitted(ada, study, preference=1)
    submitted(ben, study, preference=-1)
    pair = study.items.filter(task_type=TaskType.PREFERENCE)[0]
    client.force_login(rosa)

    page = client.get(f"/studies/{study.name}/review/disagreements/{pair.pk}/preference/").content.decode()

    assert pair.report is not None
    assert pair.other_report is not None
    assert page.index("The first answer") < page.index(pair.report.text)
    assert page.index("The second answer") < page.index(pair.other_report.text)
    assert "-run" not in page


def test_a_third_person_reads_an_answer_with_its_passages(
    client: Client, rosa: User, ada: User, ben: User, study: Study
) -> None:
    submitted(ada, study, preference=0)
    second = submitted(ben, study, preference=0)
    answer = rows_of(second, TaskType.ANSWER_EVALUATION)[0]
    say(second, answer, faithful=4)
    client.force_login(rosa)

    page = client.get(f"/studies/{study.name}/review/disagreements/{answer.item_id}/faithful/").content.decode()

    assert answer.item.report is not None
    assert answer.item.report.text in page
    assert [name for name in ("wind", "rails", "deck", "paint") if f"The {name} makes a bridge hum." in page] == [
        "wind",
        "rails",
        "deck",
    ]


@pytest.mark.parametrize(
    ("swapped", "preference", "wins"), [(False, 1, 0), (False, -1, 1), (True, 1, 1), (True, -1, 0)]
)
def test_a_spot_check_names_the_answers_as_their_assessor_saw_them(
    client: Client, rosa: User, ada: User, study: Study, swapped: bool, preference: float, wins: int
) -> None:
    assignment = in_hands(ada, study)
    assignment.asked.update(swapped=swapped)
    see_the_passages(assignment)
    judge_the_rest(assignment)
    pairs = rows_of(assignment, TaskType.PREFERENCE)
    for row in pairs:
        say(assignment, row, preference=0)
    say(assignment, pairs[0], preference=preference)
    submit_assignment(assignment=assignment, at=NOON)
    [check] = draw_spot_checks(study=study, rater=assignment.rater, n=1, at=NOON)
    client.force_login(rosa)

    page = client.get(f"/studies/{study.name}/review/spot-checks/{check.pk}/").content.decode()

    answers = [row.item.report_id for row in rows_of(assignment, TaskType.ANSWER_EVALUATION)]
    sides = [pairs[0].item.report_id, pairs[0].item.other_report_id]
    left, right = reversed(sides) if swapped else sides
    letters = ["ABC"[answers.index(left)], "ABC"[answers.index(right)]]
    assert f"Answers {letters[0]} and {letters[1]}: " in page
    assert f"</strong> answer {letters[wins]}" in page
    assert page.count("</strong> tie") == Judgment.objects.filter(criterion__name="preference").count() - 1
    assert "The wind makes a bridge hum." in page
