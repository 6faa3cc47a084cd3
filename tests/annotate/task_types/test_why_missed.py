"""How an answer misses a key point: asked of reports alone, after a no, where the study wants it."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotate.assignments.errors import NotAsked
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from annotate.work.saving import save_choice
from collection.models import Collection, EarlierJudgment, Item, Judgment, RubricElement, Study, User
from evaluation.figures.studies import draw_figure, offered_figures
from judging.data.selection import items_asked
from stats.measures.missed_points import ways_of_missing
from tests.annotate.factories import in_hands_of, the_criterion
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.browser import SignIn, check_accessibility

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
MISSING, GENERAL, INCOMPLETE = 0, 1, 2


@pytest.fixture
def asked(collection: Collection, rosa: User) -> Study:
    """Reports are asked for their question's key points, and documents for one that a report makes itself."""
    element = RubricElement.objects.filter(topic__collection=collection, kind="key_point").first()
    assert element is not None
    RubricElement.objects.create(
        topic=element.topic, kind="key_point", element_id="own", text="It stood long.", position=99,
        attributes={"run": "cited-1"},
    )  # fmt: skip
    study = make_study(
        StudyDesign(
            collection=collection,
            name="missed",
            task_types=["key_point"],
            key_points_in="answers",
            why_missed=True,
            overlap=2,
        ),
        by=rosa,
        at=AT,
    )
    open_study(study=study, at=AT)
    return study


@pytest.fixture
def reading(asked: Study, ada: User) -> Assignment:
    return in_hands_of(ada, asked.tasks.filter(report__isnull=False).order_by("pk")[0])


def choose(assignment: Assignment, name: str, grade: float | None) -> None:
    item = assignment.asked.order_by("position")[0].item
    criterion = the_criterion(assignment.task.study, name)
    save_choice(assignment=assignment, item=item, criterion=criterion, grade=grade, at=AT)


def test_only_a_study_that_wants_it_asks_it(collection: Collection, asked: Study, rosa: User) -> None:
    plain = make_study(
        StudyDesign(collection=collection, name="plain", task_types=["key_point"], key_points_in="answers"),
        by=rosa,
        at=AT,
    )
    documents = make_study(
        StudyDesign(collection=collection, name="documents", task_types=["key_point"]), by=rosa, at=AT
    )

    assert [one.name for one in asked.criteria.all()] == ["grounded", "why_missed"]
    assert [one.name for one in plain.criteria.all()] == ["grounded"]
    assert [one.name for one in documents.criteria.all()] == ["grounded", "utility"]


def test_it_is_asked_after_a_no_and_then_the_question_waits_for_it(reading: Assignment) -> None:
    with pytest.raises(NotAsked, match="only after a negative answer"):
        choose(reading, "why_missed", GENERAL)

    choose(reading, "grounded", 0)
    lack = screen_of(reading).questions[0].lack
    choose(reading, "why_missed", GENERAL)

    assert lack == "Not answered yet."
    assert screen_of(reading).questions[0].lack == ""


@pytest.mark.parametrize("grade", [1, None])
def test_a_yes_takes_it_back(reading: Assignment, grade: float | None) -> None:
    choose(reading, "grounded", 0)
    choose(reading, "why_missed", INCOMPLETE)

    choose(reading, "grounded", grade)

    assert not Judgment.objects.filter(criterion__name="why_missed").exists()
    assert EarlierJudgment.objects.filter(criterion__name="why_missed").exists()
    assert bool(screen_of(reading).questions[0].lack) == (grade is None)


def test_it_is_never_asked_of_a_document(asked: Study, ada: User) -> None:
    document = asked.tasks.filter(passage__isnull=False).order_by("pk")[0]
    asked.tasks.exclude(pk=document.pk).delete()
    reading = in_hands_of(ada, document)
    choose(reading, "grounded", 0)

    with pytest.raises(NotAsked, match="does not ask for"):
        choose(reading, "why_missed", MISSING)

    (question,) = screen_of(reading).questions
    assert [answer.criterion.name for answer in question.answers] == ["grounded"]
    assert question.lack == ""


def test_a_judge_is_asked_about_what_somebody_missed(asked: Study, reading: Assignment) -> None:
    choose(reading, "grounded", 0)

    about = items_asked(the_criterion(asked, "why_missed"))

    assert list(about) == [reading.asked.order_by("position")[0].item]


def test_the_form_asks_it_of_answers_alone(client: Client, collection: Collection, rosa: User) -> None:
    client.force_login(rosa)
    sent = {
        "collection": collection.name, "title": "Why missed", "task_types": ["key_point"], "overlap": "1",
        "depth": "10", "why_missed": "on", "key_points_in": "documents", "sampling": "simple", "strata": "topic",
        "weight": "length", "control_share": "0",
    }  # fmt: skip

    refused = client.post("/studies/new/", sent)

    assert refused.status_code == 422
    assert "look for key points in answers" in refused.content.decode()


def test_shares_count_a_point_once_and_have_an_interval_over_topics() -> None:
    grades = np.array([[0, 0], [0, 2], [1, np.nan], [np.nan, np.nan]] + [[0, np.nan]] * 8, dtype=float)
    topics = np.array([0, 0, 1, 1, *range(2, 10)])

    missing, general, incomplete = ways_of_missing(grades, topics, [0, 1, 2])

    assert [one.n_grades for one in (missing, general, incomplete)] == [11, 1, 1]
    assert missing.n_points == 11
    assert missing.share.value == pytest.approx(9.5 / 11)
    assert general.share.value == pytest.approx(1 / 11)
    assert incomplete.share.value == pytest.approx(0.5 / 11)
    assert ways_of_missing(grades[3:4], topics[3:4], [0, 1, 2]) == []


def test_the_figure_counts_the_ways_of_each_system(asked: Study, reading: Assignment) -> None:
    choose(reading, "grounded", 0)
    choose(reading, "why_missed", GENERAL)

    found = draw_figure(asked, "missed-points")

    assert "missed-points" in offered_figures(asked)
    system = Item.objects.get(judgments__criterion__name="why_missed").report.run.system.name  # type: ignore[union-attr]
    assert [row[:5] for row in found.rows] == [
        [system, "missing", 0, 1, 0.0],
        [system, "general", 1, 1, 1.0],
        [system, "incomplete", 0, 1, 0.0],
    ]
    assert "too few for an interval" in found.rows[0][-1]
    assert found.answer == "1 missed point of 1 system: “general” is the most frequent way in 1 of 1 systems."


@pytest.mark.browser
def test_by_keyboard_a_no_opens_it_and_a_yes_hides_it_again(
    page: Page, sign_in: SignIn, reading: Assignment, ada: User
) -> None:
    sign_in(page, ada)
    open_assignment(page, reading)
    why = page.get_by_text("How does the answer miss it?").first

    expect(why).to_be_hidden()
    press(page, "1")
    expect(why).to_be_hidden()
    press(page, "p", "0")
    expect(why).to_be_visible()
    check_accessibility(page)
    press(page, "3")
    saved(page)

    given = Judgment.objects.order_by("criterion__position").values_list("criterion__name", "grade")
    assert list(given) == [("grounded", 0), ("why_missed", GENERAL)]
