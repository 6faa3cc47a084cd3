"""The pages, forms and API of written answers: what they send, take and refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains
from rest_framework.test import APIClient

from annotate.assignments.assignments import submit_assignment
from annotate.models import Assignment, Draft
from collection.models import AnswerToRevise, Judgment, Study, User
from tests.annotate.factories import NOON
from tests.annotate.writers import (
    ALL_CONFIRMED,
    ANSWER,
    CHANGED,
    COMPLETE,
    KEPT,
    TOO_DIFFICULT,
    a_study_of_writing,
    answered,
    next_of,
    save,
    sentence_spans,
)
from tests.factories import a_collection, rater_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(rosa: User, ada: User, ben: User) -> Study:
    return a_study_of_writing(owner=rosa, people=[ada, ben])


@pytest.fixture
def assignment(study: Study, ada: User) -> Assignment:
    return next_of(ada, study)


@pytest.fixture
def as_ada(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def fields_of(assignment: Assignment, **fields: Any) -> dict[str, Any]:
    """A form's fields, their names as the page has them."""
    item = assignment.asked.get().item
    criterion = assignment.task.study.criteria.get(task_type=item.task_type)
    return {f"{name}-{item.pk}-{criterion.pk}": value for name, value in fields.items()}


def a_choice(assignment: Assignment, **fields: Any) -> dict[str, Any]:
    item = assignment.asked.get().item
    criterion = assignment.task.study.criteria.get(task_type=item.task_type)
    assert item.passage is not None
    spans = [
        {"start": span.start, "end": span.end, "quote": span.quote} for span in sentence_spans(item.passage, [0, 2])
    ]
    answer = {"text": ANSWER, "confirmations": list(ALL_CONFIRMED)}
    return {"item": item.pk, "criterion": criterion.pk, "grade": COMPLETE, "spans": spans, "answer": answer} | fields


# --- The page -----------------------------------------------------------------------------------


def test_shows_question_title_sentences_outcomes_and_confirmations(as_ada: Client, assignment: Assignment) -> None:
    page = as_ada.get(f"/work/{assignment.pk}/")

    assertContains(page, "what were the bridges of town 0 made of")
    assertContains(page, "The bridges of town 0")
    assertContains(page, 'class="sentence"', count=6)  # the title, and five sentences
    for outcome in ("complete", "partial", "too difficult", "ill-formed", "paragraph isn’t good", "no answer"):
        assertContains(page, outcome)
    assertContains(page, 'name="confirmed-', count=4)


def test_shows_what_was_kept(as_ada: Client, assignment: Assignment) -> None:
    save(assignment, None, sentences=[1], text="<b>Half", confirmed=["alone"])

    page = as_ada.get(f"/work/{assignment.pk}/")

    assertContains(page, "&lt;b&gt;Half</textarea>")
    assertContains(page, 'value="2" checked')  # 0 is the title
    assertContains(page, 'value="alone" checked')


def test_shows_the_first_answer_and_starts_from_it(study: Study, ada: User, ben: User) -> None:
    answered(ada, study)
    client = Client()
    client.force_login(ben)

    page = client.get(f"/work/{next_of(ben, study).pk}/")

    assertContains(page, f"{ANSWER}</blockquote>")
    assertContains(page, f"{ANSWER}</textarea>")
    assertContains(page, "in the first answer", count=2)
    assertNotContains(page, ada.username)


def test_a_stranger_finds_nothing(assignment: Assignment, mallory: User) -> None:
    client = Client()
    client.force_login(mallory)

    assert client.get(f"/work/{assignment.pk}/").status_code == 404
    assert client.post(f"/work/{assignment.pk}/", fields_of(assignment, grade="5")).status_code == 404


def test_takes_as_many_queries_with_an_answer_as_without(
    as_ada: Client, assignment: Assignment, django_assert_max_num_queries: Any
) -> None:
    save(assignment, COMPLETE, sentences=[0, 2], text=ANSWER, confirmed=ALL_CONFIRMED)

    with django_assert_max_num_queries(15):
        as_ada.get(f"/work/{assignment.pk}/")


# --- The form -----------------------------------------------------------------------------------


def test_a_form_saves_and_submits_an_answer(as_ada: Client, assignment: Assignment) -> None:
    fields = fields_of(
        assignment, grade="5", sentence=["1", "3"], answer="Oak,\r\nthen stone.", confirmed=list(ALL_CONFIRMED)
    )

    response = as_ada.post(f"/work/{assignment.pk}/", fields | {"submit": "1"})

    assert response.status_code == 302
    assert Judgment.objects.get().answer.text == "Oak,\nthen stone."
    assert Judgment.objects.get().highlights.count() == 2
    assignment.refresh_from_db()
    assert assignment.state == "submitted"
    assert AnswerToRevise.objects.exists()


def test_a_form_that_lacks_something_keeps_the_rest_and_says_so(as_ada: Client, assignment: Assignment) -> None:
    fields = fields_of(assignment, grade="5", sentence=["0"], answer="Oak.", confirmed=["alone"])

    response = as_ada.post(f"/work/{assignment.pk}/", fields | {"submit": "1"})

    assertContains(response, "Confirm all points", status_code=422)
    assertContains(response, "Oak.</textarea>", status_code=422)
    assert Draft.objects.get().answer == "Oak."


def test_a_form_drops_sentences_where_nothing_is_answered(as_ada: Client, assignment: Assignment) -> None:
    as_ada.post(f"/work/{assignment.pk}/", fields_of(assignment, grade="3", sentence=["0", "x", "99"], answer=""))

    assert Judgment.objects.get().grade == TOO_DIFFICULT


def test_a_form_changes_a_first_answer(study: Study, ada: User, ben: User) -> None:
    answered(ada, study)
    assignment = next_of(ben, study)
    client = Client()
    client.force_login(ben)

    client.post(
        f"/work/{assignment.pk}/",
        fields_of(assignment, grade="1", sentence=["0"], answer="Of oak.", confirmed=list(ALL_CONFIRMED)),
    )

    assert Judgment.objects.get(grade=CHANGED).answer.text == "Of oak."


# --- One choice ---------------------------------------------------------------------------------


def send(client: Client, assignment: Assignment, choice: Any) -> Any:
    return client.post(f"/work/{assignment.pk}/choice/", json.dumps(choice), content_type="application/json")


def test_saves_a_choice_with_its_answer(as_ada: Client, assignment: Assignment) -> None:
    response = send(as_ada, assignment, a_choice(assignment))

    assert response.json() == {"state": "judged", "lack": "", "submitted": False}
    assert Judgment.objects.get().answer.text == ANSWER


@pytest.mark.parametrize(
    ("fields", "status", "reason"),
    [
        ({"answer": "text"}, 400, "not a choice"),
        ({"answer": {"text": 7, "confirmations": []}}, 400, "a text and a list"),
        ({"answer": {"text": "a", "confirmations": [7]}}, 400, "a text and a list"),
        ({"answer": {"text": "a\x00", "confirmations": []}}, 400, "not a choice"),
        ({"answer": {"text": "a" * 10_001, "confirmations": []}}, 422, "10,000 at most"),
        ({"spans": [{"start": 0, "end": 3, "quote": "The"}]}, 422, "not a sentence"),
        ({"grade": 3}, 422, "nothing is answered"),
    ],
)
def test_refuses_a_bad_answer(
    as_ada: Client, assignment: Assignment, fields: dict[str, Any], status: int, reason: str
) -> None:
    response = send(as_ada, assignment, a_choice(assignment, **fields))

    assert response.status_code == status
    assert reason in response.json()["refused"]
    assert not Judgment.objects.exists()


def test_refuses_a_change_of_what_somebody_reads(as_ada: Client, study: Study, ada: User, ben: User) -> None:
    assignment = answered(ada, study)
    next_of(ben, study)

    response = send(as_ada, assignment, a_choice(assignment, grade=4))

    assert response.status_code == 422
    assert "second person" in response.json()["refused"]


def test_saving_takes_a_constant_number_of_queries(
    as_ada: Client, assignment: Assignment, django_assert_max_num_queries: Any
) -> None:
    for text in ("One.", "Two."):
        choice = a_choice(assignment, answer={"text": text, "confirmations": list(ALL_CONFIRMED)})

        with django_assert_max_num_queries(28):
            send(as_ada, assignment, choice)

    assert Judgment.objects.get().answer.text == "Two."


# --- The API ------------------------------------------------------------------------------------


def test_the_api_reads_writes_and_submits_an_answer(assignment: Assignment, ada: User) -> None:
    client = APIClient()
    client.force_authenticate(ada)

    shown = client.get(f"/api/v1/assignments/{assignment.pk}/").json()
    saved = client.post(f"/api/v1/assignments/{assignment.pk}/choices/", a_choice(assignment), format="json")
    submitted = client.post(f"/api/v1/assignments/{assignment.pk}/submit/")

    assert shown["extras"]["sentences"][0] == {"start": 0, "end": 0, "quote": "The bridges of town 0"}
    assert len(shown["extras"]["sentences"]) == 6
    assert shown["questions"][0]["answers"][0]["answer"] == {"text": "", "confirmations": []}
    assert saved.json() == {"state": "judged", "lack": "", "submitted": False}
    assert submitted.status_code == 204
    assert Judgment.objects.get().answer.text == ANSWER


# --- The researcher's side ----------------------------------------------------------------------


@pytest.fixture
def as_rosa(rosa: User) -> Client:
    client = Client()
    client.force_login(rosa)
    return client


def test_a_new_study_says_which_answers_are_read_by_whom(as_rosa: Client, rosa: User) -> None:
    collection = a_collection(owner=rosa)
    page = as_rosa.get("/studies/new/")
    assertContains(page, "Answers for a second reading")
    assertNotContains(page, 'name="sample-answer_revision"')

    form = page.context["form"]
    words = {
        f"{criterion.prefix}-{name}": field.initial
        for task_type in ("written_answer", "answer_revision")
        for criterion in form.criteria[task_type]
        for name, field in criterion.fields.items()
    }
    response = as_rosa.post(
        "/studies/new/",
        {
            "collection": collection.name,
            "title": "In words",
            "task_types": ["written_answer", "answer_revision"],
            "overlap": 2,
            "depth": 1,
            "sampling": "simple",
            "strata": "topic",
            "weight": "length",
            "guidelines": "Be short.",
            "revise": "all",
            "revision_places": 2,
            "without_title": "on",
            **words,
        },
    )

    assert response.status_code == 302, response.context["form"].errors
    made = Study.objects.get(name="in-words")
    assert (made.revise, made.revision_places) == ("all", 2)
    assert made.attributes == {"without_title": True}


def test_round_2_needs_round_1(as_rosa: Client, rosa: User) -> None:
    collection = a_collection(owner=rosa)

    page = as_rosa.post("/studies/new/", {"collection": collection.name, "task_types": ["answer_revision"]})
    api = as_rosa.post(
        "/api/v1/studies/",
        {"collection": collection.name, "name": "x", "task_types": ["answer_revision"], "guidelines": "x"},
        content_type="application/json",
    )

    assertContains(page, "needs “written answer, round 1”: choose both", status_code=422)
    assert api.status_code == 400
    assert "choose both" in str(api.json()["task_types"])
    assert not Study.objects.exists()


def test_rosa_downloads_the_answers_in_clapnqs_format(as_rosa: Client, study: Study, ada: User, ben: User) -> None:
    answered(ada, study)
    reading = next_of(ben, study)
    save(reading, KEPT, confirmed=ALL_CONFIRMED)
    submit_assignment(assignment=reading, at=NOON)

    response = as_rosa.get("/collections/questions/studies/bridges-in-words/clapnq.jsonl")

    (line,) = [json.loads(line) for line in response.getvalue().splitlines()]
    assert line["id"] == "q0"
    assert len(line["passages"][0]["sentences"]) == 5
    assert line["output"] == [
        {
            "answer": ANSWER,
            "selected_sentences": [
                "The old bridge was built of oak in 1752.",
                "The town then asked a mason, Dr. Ray, for a stone one.",
            ],
            "meta": {
                "annotator": ["assessor 1", "assessor 2"],
                "has_minimal_answer": False,
                "non_consecutive": True,
                "round": 2,
                "skip": False,
            },
        }
    ]
    assertContains(as_rosa.get("/studies/bridges-in-words/"), "clapnq.jsonl")


def test_a_stranger_downloads_no_answers(study: Study, mallory: User) -> None:
    client = Client()
    client.force_login(mallory)

    assert client.get("/collections/questions/studies/bridges-in-words/clapnq.jsonl").status_code == 404
    assert rater_of(mallory).judgments.count() == 0
