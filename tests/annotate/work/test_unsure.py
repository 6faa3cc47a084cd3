"""Assessors say of which grades they are not sure: the grade counts as any other, and the flag goes where it goes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.assignments.task_page import screen_of
from annotate.models import Assignment, Draft
from annotate.work.later import undo_skip
from annotate.work.pace import SkipReason, skip_assignment
from annotate.work.saving import drop_changes
from collection.models import EarlierJudgment, Judgment, Study, User
from tests.annotate.factories import NOON, a_report_task, a_submitted_report, answer_report, in_hands_of
from tests.annotate.work.test_answers import post
from tests.annotate.work.test_choices import FACT, choose
from tests.annotate.work.test_views import send

LATER = NOON + timedelta(minutes=1)


def flags() -> list[bool]:
    return list(Judgment.objects.order_by("item").values_list("unsure", flat=True))


def shown(assignment: Assignment) -> bool:
    """Whether the page shows the first question as unsure."""
    return screen_of(assignment).questions[0].answers[0].unsure


# --- One choice ---------------------------------------------------------------------------------


def test_the_flag_comes_with_the_choice_and_keeps_its_grade(as_ada: Client, in_hand: Assignment) -> None:
    said = send(as_ada, in_hand, grade=0, unsure=True).json()

    judgment = Judgment.objects.get()
    assert said["state"] == "judged"
    assert (judgment.grade, judgment.unsure) == (0, True)
    assert shown(in_hand)


def test_a_choice_without_it_is_sure(as_ada: Client, in_hand: Assignment) -> None:
    send(as_ada, in_hand, grade=0)

    assert flags() == [False]


def test_what_is_no_flag_is_none(as_ada: Client, in_hand: Assignment) -> None:
    send(as_ada, in_hand, grade=0, unsure="no")

    assert flags() == [False]


def test_it_is_set_and_taken_back_with_the_history(in_hand: Assignment) -> None:
    for unsure in (False, True, True, False):
        choose(in_hand, "answerability", 0, unsure=unsure, at=LATER)

    assert flags() == [False]
    earlier = EarlierJudgment.objects.order_by("pk").values_list("grade", "unsure")
    assert list(earlier) == [(0, False), (0, True)]


def test_a_draft_keeps_it_until_the_words_are_marked(in_hand: Assignment) -> None:
    choose(in_hand, "answerability", 1, unsure=True)
    drafted = Draft.objects.get().unsure, shown(in_hand)

    choose(in_hand, "answerability", 1, FACT, unsure=True)

    assert drafted == (True, True)
    assert flags() == [True]


def test_it_takes_no_query(as_ada: Client, in_hand: Assignment) -> None:
    n_queries = []
    for unsure in (False, False, True):  # the first compiles what is compiled once
        Judgment.objects.all().delete()
        with CaptureQueriesContext(connection) as queries:
            send(as_ada, in_hand, grade=0, unsure=unsure)
        n_queries.append(len(queries))

    assert n_queries[1] == n_queries[2] < 13


def test_forms_without_javascript_tick_it(as_ada: Client, in_hand: Assignment) -> None:
    question = screen_of(in_hand).questions[0]
    name = f"{question.item.pk}-{question.answers[0].criterion.pk}"

    as_ada.post(f"/work/{in_hand.pk}/", {f"grade-{name}": "0", f"unsure-{name}": "on"})
    ticked = flags()
    as_ada.post(f"/work/{in_hand.pk}/", {f"grade-{name}": "0"})

    assert (ticked, flags()) == ([True], [False])


# --- The task -----------------------------------------------------------------------------------


def test_the_answer_that_submits_its_task_has_it_and_may_be_sent_twice(as_ada: Client, in_hand: Assignment) -> None:
    answer_report(in_hand, [0, 0, 0])
    Judgment.objects.filter(item=in_hand.asked.all()[2].item_id).delete()

    for _ in range(2):
        said = post(as_ada, in_hand, 2, unsure=True).json()

    assert "next" in said
    assert flags() == [False, False, True]
    assert not EarlierJudgment.objects.exists()


def test_what_is_submitted_may_still_be_flagged(study: Study, ada: User) -> None:
    submitted = a_submitted_report(in_hands_of(ada, a_report_task(study)), [0, 0, 0])
    submitted.refresh_from_db()

    choose(submitted, "answerability", 0, unsure=True, at=LATER)

    assert flags() == [True, False, False]


def test_dropped_changes_drop_their_flag(study: Study, ada: User) -> None:
    submitted = a_submitted_report(in_hands_of(ada, a_report_task(study)), [0, 0, 0])
    submitted.refresh_from_db()
    choose(submitted, "answerability", 1, unsure=True, at=LATER)

    drop_changes(assignment=submitted)

    assert flags() == [False, False, False]
    assert not shown(submitted)


def test_a_skipped_task_comes_back_with_it(in_hand: Assignment) -> None:
    choose(in_hand, "answerability", 0, unsure=True)
    choose(in_hand, "answerability", 1, n=1, unsure=True)
    skip_assignment(assignment=in_hand, reason=SkipReason.UNCLEAR, words="", at=LATER)

    undo_skip(assignment=in_hand, at=LATER)

    assert flags() == [True]
    assert Draft.objects.get().unsure


@pytest.mark.parametrize("unsure", [True, False])
def test_the_page_is_told(as_ada: Client, in_hand: Assignment, unsure: bool) -> None:
    choose(in_hand, "answerability", 0, unsure=unsure)

    page = as_ada.get(f"/work/{in_hand.pk}/")

    (first, *_), *_ = [list(answers.values()) for answers in page.context["answers"].values()]
    assert first["unsure"] is unsure
