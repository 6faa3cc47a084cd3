"""An assignment's page, the choices sent from it, and handing it in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.assignments.assignments import claim_next, return_assignment
from annotate.models import Assignment, Draft
from annotate.work.pace import claim_ahead
from collection.models import Judgment, Study, User
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_rating_task,
    a_report_task,
    a_submitted_report,
    answer_report,
    in_hands_of,
    the_criterion,
)


@pytest.fixture
def reading(study: Study, ada: User) -> Assignment:
    """Ada reads the report of the first topic."""
    return in_hands_of(ada, a_report_task(study))


@pytest.fixture
def as_ada(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def send(
    client: Client, assignment: Assignment, asks: str = "answerability", *, by: User | None = None, **choice: Any
) -> Any:
    """Send a choice about the first item as the page does, which says whose page it is."""
    body = {
        "item": assignment.asked.all()[0].item_id,
        "criterion": the_criterion(assignment.task.study, asks).pk,
        "grade": 0,
        "spans": [],
        "seconds": 3.5,
        **choice,
    }
    return client.post(
        f"/work/{assignment.pk}/choice/",
        json.dumps(body),
        content_type="application/json",
        headers={"X-Assessor": str(by.pk)} if by else {},
    )


# --- The page -----------------------------------------------------------------------------------


def test_shows_the_text_the_questions_and_the_scale(as_ada: Client, reading: Assignment) -> None:
    response = as_ada.get(f"/work/{reading.pk}/")

    assert response.status_code == 200
    assert '<p dir="auto">Fact 0 of subject 0 is here. 🌉 Fact 1 is here too.\n</p>' in response.text
    assert "What is fact 2 of subject 0?" in response.text
    assert "The text says enough to answer the question." in response.text
    assert "Report on subject 0." in response.text
    assert "Read <em>everything</em> first." in response.text
    assert "alpha" not in response.text


def test_shows_what_was_answered(as_ada: Client, reading: Assignment) -> None:
    answer_report(reading, [1, 0, 0])

    response = as_ada.get(f"/work/{reading.pk}/")

    assert response.context["screen"].n_done == 3
    assert response.text.count(" checked") == 3
    assert '<li class="chip support"><span class="chip-text" dir="auto">Fact</span></li>' in response.text


def test_writes_carriage_returns_so_that_browsers_keep_them(as_ada: Client, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study, "One.\r\nTwo <b>.\rThree.\n\n"))

    response = as_ada.get(f"/work/{assignment.pk}/")

    assert (
        '<p dir="auto">One.&#13;\n</p><p dir="auto">Two &lt;b&gt;.&#13;</p><p dir="auto">Three.\n</p>' in response.text
    )


def test_links_a_rating_to_the_report_and_back(as_ada: Client, study: Study, ada: User, reading: Assignment) -> None:
    a_rating_task(study, after=reading.task)
    a_submitted_report(reading, [1, 0, 0])
    rating = claim_next(study=study, rater=reading.rater, at=NOON)
    assert rating is not None
    item = reading.asked.all()[0].item_id

    there = as_ada.get(f"/work/{rating.pk}/")
    back = as_ada.get(f"/work/{reading.pk}/?back={rating.pk}")

    assert f'href="/work/{reading.pk}/?back={rating.pk}#question-{item}"' in there.text
    assert '<blockquote dir="auto">Fact</blockquote>' in there.text
    assert f'href="/work/{rating.pk}/">Back to the rating</a>' in back.text


@pytest.mark.parametrize("back", ["999", "x", "-1"])
def test_goes_back_to_nowhere_else(as_ada: Client, reading: Assignment, back: str) -> None:
    assert "Back to the rating" not in as_ada.get(f"/work/{reading.pk}/?back={back}").text


def test_marks_candidates_of_a_key_point(as_ada: Client, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_key_point_task(study))

    response = as_ada.get(f"/work/{assignment.pk}/")

    assert "the list may be incomplete" in response.text
    first = assignment.asked.all()[0]
    assert response.context["candidates"] == {first.item_id: [[0, len("Passage 0 says fact 0 of subject 0.")]]}


@pytest.mark.parametrize("path", ["", "choice/", "submit/"])
def test_a_stranger_finds_nothing(client: Client, reading: Assignment, mallory: User, path: str) -> None:
    client.force_login(mallory)
    url = f"/work/{reading.pk}/{path}"

    response = send(client, reading) if path == "choice/" else client.post(url) if path else client.get(url)

    assert response.status_code == 404
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("path", ["", "choice/", "submit/"])
def test_a_number_out_of_reach_is_not_found(as_ada: Client, reading: Assignment, path: str) -> None:
    choice = json.dumps({"item": 1, "criterion": 1, "grade": 0})

    response = as_ada.post(f"/work/{10**30}/{path}", choice, content_type="application/json")

    assert response.status_code == 404


@pytest.mark.parametrize("path", ["", "choice/", "submit/"])
def test_asks_who_it_is(client: Client, reading: Assignment, path: str) -> None:
    response = client.post(f"/work/{reading.pk}/{path}")

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/sign-in/")


def test_a_returned_assignment_says_so(as_ada: Client, reading: Assignment) -> None:
    return_assignment(assignment=reading, at=NOON)

    response = as_ada.get(f"/work/{reading.pk}/")

    assert response.status_code == 410
    assert "no longer assigned to you" in response.text


def test_says_which_task_it_is_and_of_how_many(as_ada: Client, study: Study, ada: User) -> None:
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [0, 0, 0])
    second = in_hands_of(ada, a_report_task(study, "A report."))
    a_report_task(study, "A report that is still to come.")

    assert "task 2 of 3 ·" in as_ada.get(f"/work/{second.pk}/").text


def test_a_task_that_is_fetched_ahead_is_the_next_one(as_ada: Client, study: Study, reading: Assignment) -> None:
    a_report_task(study, "Another report.")
    (ahead,) = claim_ahead(assignment=reading, at=NOON)

    assert "task 1 of 2 ·" in as_ada.get(f"/work/{reading.pk}/").text
    assert "task 2 of 2 ·" in as_ada.get(f"/work/{ahead.pk}/").text


def test_says_no_total_where_no_task_is_handed_out(as_ada: Client, reading: Assignment) -> None:
    Study.objects.update(state=Study.State.PAUSED)

    assert "task 1 ·" in as_ada.get(f"/work/{reading.pk}/").text


def test_a_quota_is_the_total(as_ada: Client, study: Study, ada: User) -> None:
    study.quota = 2
    for n in range(4):
        a_report_task(study, f"Report {n}.")
    first = in_hands_of(ada, study.tasks.all()[0])

    assert "task 1 of 2 ·" in as_ada.get(f"/work/{first.pk}/").text


def test_takes_as_many_queries_however_many_answers(
    as_ada: Client, reading: Assignment, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    answer_report(reading, [1, 1, 1])

    with django_assert_num_queries(
        14
    ):  # session, user, assignment, what is before it; criteria, items, judgments, marks, drafts, guideline; turn; pay
        as_ada.get(f"/work/{reading.pk}/")


# --- A choice -----------------------------------------------------------------------------------


def test_saves_a_choice(as_ada: Client, reading: Assignment) -> None:
    response = send(as_ada, reading, grade=1, spans=[{"start": 29, "end": 35, "quote": "🌉 Fact"}])

    judgment = Judgment.objects.get()
    assert response.json() == {"state": "judged", "lack": "", "submitted": False}
    assert (judgment.grade, judgment.seconds) == (1, 3.5)
    assert judgment.highlights.get().quote == "🌉 Fact"
    assert judgment.highlights.get().purpose == "support"


def test_a_page_of_somebody_else_keeps_its_choice(as_ada: Client, reading: Assignment, ada: User, ben: User) -> None:
    of_ben = send(as_ada, reading, by=ben)
    n_saved = Judgment.objects.count()
    of_ada = send(as_ada, reading, by=ada)

    assert (of_ben.status_code, of_ben.json()) == (403, {"refused": "Somebody else is signed in now."})
    assert n_saved == 0
    assert of_ada.json()["state"] == "judged"


def test_marks_in_a_passage_are_a_rationale(as_ada: Client, study: Study, ada: User) -> None:
    rating = in_hands_of(ada, a_rating_task(study))

    send(as_ada, rating, "rating", grade=4, spans=[{"start": 0, "end": 7, "quote": "Passage"}])

    assert Judgment.objects.get().highlights.get().purpose == "rationale"


def test_says_what_a_draft_lacks(as_ada: Client, reading: Assignment) -> None:
    response = send(as_ada, reading, grade=1)

    assert response.json() == {
        "state": "draft",
        "lack": "Mark the words that answer it at least once.",
        "submitted": False,
    }
    assert Draft.objects.exists()


@pytest.mark.parametrize(
    ("choice", "status", "reason"),
    [
        ({"grade": 7}, 422, "7 is not a grade of the scale"),
        ({"grade": 1, "spans": [{"start": 0, "end": 4, "quote": "fact"}]}, 422, "Reload the page"),
        ({"grade": 1, "spans": [{"start": 0, "end": 10**30, "quote": "Fact"}]}, 422, "does not fit"),
        ({"grade": 1, "spans": [{"start": 0, "end": 4, "quote": "\ud800"}]}, 400, "not a choice"),
        ({"grade": float("nan")}, 400, "not a choice"),
        ({"grade": "many"}, 400, "not a choice"),
        ({"item": "x"}, 400, "not a choice"),
        ({"spans": 5}, 400, "not a choice"),
        ({"grade": 1, "spans": [{"start": "0", "end": 4, "quote": "Fact"}]}, 400, "two whole numbers and a quote"),
        ({"grade": 1, "spans": [{"start": 0, "end": 4, "quote": "Fact"}] * 201}, 400, "More than 200"),
        ({"item": 10**30}, 400, "not a choice"),
        ({"criterion": "answerability"}, 400, "not a choice"),
        ({"item": 999_999}, 404, ""),
        ({"criterion": 999_999}, 404, ""),
    ],
)
def test_refuses_a_bad_choice(
    as_ada: Client, reading: Assignment, choice: dict[str, Any], status: int, reason: str
) -> None:
    response = send(as_ada, reading, **choice)

    assert response.status_code == status
    assert reason in response.content.decode()
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("body", ["", "[]", "nonsense", "null", '{"item": 1}', "[" * 100_000])
def test_refuses_what_is_no_choice(as_ada: Client, reading: Assignment, body: str) -> None:
    response = as_ada.post(f"/work/{reading.pk}/choice/", body, content_type="application/json")

    assert response.status_code == 400
    assert "not a choice" in response.json()["refused"]


def test_says_that_the_study_is_closed(as_ada: Client, reading: Assignment) -> None:
    Study.objects.update(state=Study.State.CLOSED)

    response = send(as_ada, reading)

    assert response.status_code == 409
    assert "is closed" in response.json()["refused"]


def test_says_that_the_assignment_went_back(as_ada: Client, reading: Assignment) -> None:
    return_assignment(assignment=reading, at=NOON)

    assert send(as_ada, reading).status_code == 410


def test_answers_a_choice_in_little(
    as_ada: Client, reading: Assignment, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    spans = [{"start": start, "end": start + 4, "quote": "Fact"} for start in (0, 31)]

    with django_assert_num_queries(12):  # session, user, item, criteria, the six of save_choice; two of `send`
        response = send(as_ada, reading, grade=1, spans=spans)

    assert len(response.content) + len(str(response.headers)) < 5_000


# --- Without JavaScript -------------------------------------------------------------------------


def field(assignment: Assignment, criterion: str, n: int = 0) -> str:
    item = assignment.asked.all()[n].item_id
    return f"grade-{item}-{the_criterion(assignment.task.study, criterion).pk}"


def test_a_form_saves_all_choices(as_ada: Client, reading: Assignment) -> None:
    choices = {field(reading, "answerability", n): str(grade) for n, grade in enumerate([0, 1, ""])}

    response = as_ada.post(f"/work/{reading.pk}/", choices, follow=True)

    assert "Saved." in response.text
    assert Judgment.objects.get().grade == 0
    assert Draft.objects.get().grade == 1


def test_a_form_keeps_the_highlights(as_ada: Client, reading: Assignment) -> None:
    answer_report(reading, [1, 1, 1])
    choices = {field(reading, "answerability", n): str(grade) for n, grade in enumerate([1, 1, 0])}

    as_ada.post(f"/work/{reading.pk}/", choices)

    assert [j.highlights.count() for j in Judgment.objects.order_by("item")] == [1, 1, 0]


def test_a_form_leaves_out_what_follows_a_no(as_ada: Client, study: Study, ada: User) -> None:
    verifying = in_hands_of(ada, a_key_point_task(study))
    choices = {
        field(verifying, "grounded"): "0",
        field(verifying, "utility"): "1",
        field(verifying, "grounded", 1): "1",
        field(verifying, "utility", 1): "-1",
    }

    response = as_ada.post(f"/work/{verifying.pk}/", choices)

    assert response.status_code == 302
    assert sorted(Judgment.objects.values_list("criterion__name", "grade")) == [
        ("grounded", 0),
        ("grounded", 1),
        ("utility", -1),
    ]


@pytest.mark.parametrize("sent", ["9", "much"])
def test_a_form_with_a_bad_grade_is_refused(as_ada: Client, reading: Assignment, sent: str) -> None:
    response = as_ada.post(f"/work/{reading.pk}/", {field(reading, "answerability"): sent})

    assert response.status_code == 422
    assert 'role="alert">1: ' in response.text


# --- Handing in ---------------------------------------------------------------------------------


def test_submitting_goes_on_with_the_next(as_ada: Client, study: Study, reading: Assignment) -> None:
    a_key_point_task(study)
    answer_report(reading, [0, 0, 0])

    response = as_ada.post(f"/work/{reading.pk}/submit/")

    following = Assignment.objects.open().get()
    assert response.headers["Location"] == f"/work/{following.pk}/"
    reading.refresh_from_db()
    assert reading.state == Assignment.State.SUBMITTED


def test_submitting_the_last_says_thanks(as_ada: Client, reading: Assignment) -> None:
    answer_report(reading, [0, 0, 0])

    response = as_ada.post(f"/work/{reading.pk}/submit/", follow=True)

    assert "All done. Thank you!" in response.text


def test_submitting_an_unfinished_assignment_says_what_is_missing(as_ada: Client, reading: Assignment) -> None:
    send(as_ada, reading, grade=1)

    response = as_ada.post(f"/work/{reading.pk}/submit/")

    assert response.status_code == 422
    assert "Not finished yet: 1, 2, 3. 1: Mark the words that answer it" in response.text


def test_submitting_again_goes_to_the_queue_but_from_a_page_that_lost_the_reply_to_the_next(
    as_ada: Client, study: Study, reading: Assignment
) -> None:
    a_key_point_task(study)
    a_submitted_report(reading, [0, 0, 0])

    response = as_ada.post(f"/work/{reading.pk}/submit/")
    once_more = as_ada.post(f"/work/{reading.pk}/submit/", headers={"Accept": "application/json"}).json()

    assert response.headers["Location"] == "/work/"
    assert once_more["next"] == f"/work/{Assignment.objects.open().get().pk}/"


# --- Numbers of five thousand digits ---------------------------------------------------------------

MANY_DIGITS = "9" * 5_000


def test_a_way_back_to_nowhere_is_no_way_back(as_ada: Client, reading: Assignment) -> None:
    response = as_ada.get(f"/work/{reading.pk}/", {"back": MANY_DIGITS})

    assert response.status_code == 200
    assert response.context["back"] is None


def test_only_ones_own_task_is_a_way_back(as_ada: Client, reading: Assignment) -> None:
    assert as_ada.get(f"/work/{reading.pk}/", {"back": str(reading.pk)}).context["back"] == reading
    assert as_ada.get(f"/work/{reading.pk}/", {"back": str(reading.pk + 1)}).context["back"] is None
