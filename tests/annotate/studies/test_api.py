"""/api/v1/studies/ and /api/v1/assignments/: the same services as the pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.timezone import now
from rest_framework.test import APIClient

from annotate.assignments.design import Design, design_of
from annotate.models import Assignment, Enrolment, Place
from annotate.studies.lifecycle import open_study
from annotate.task_types import RULES
from collection.models import Collection, Judgment, Study, User
from collection.questions.guidelines import standard_guidelines
from tests.annotate.factories import a_report_task, a_submitted_report, in_hands_of
from tests.annotate.quality_factories import signed_in
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.factories import rater_of

API = "/api/v1"


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def an_open_study_for(collection: Collection, *assessors: User) -> Study:
    study = a_study_of(collection, "answerability", overlap=1, assessors=assessors)
    open_study(study=study, at=now())
    return study


# --- The researcher's side ------------------------------------------------------------------------


def test_rosa_makes_opens_pauses_and_closes_a_study(collection: Collection, rosa: User, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(made_for=collection)
    client = client_of(rosa)
    new = {
        "collection": "bridges",
        "name": "round-1",
        "task_types": ["answerability"],
        "overlap": 2,
        "guidelines": "Read it.",
        "assessors": ["ada"],
        "criteria": [{"name": "answerability", "question": "Is it answered?"}],
    }

    made = client.post(f"{API}/studies/", new, format="json")
    opened = client.post(f"{API}/studies/round-1/open/")
    paused = client.post(f"{API}/studies/round-1/pause/")
    again = client.post(f"{API}/studies/round-1/pause/")
    closed = client.post(f"{API}/studies/round-1/close/")

    assert made.status_code == 201
    assert made.json()["criteria"][0]["question"] == "Is it answered?"
    assert opened.json() == {"state": "open", "new_tasks": 2}
    assert paused.json()["state"] == "paused"
    assert (again.status_code, again.json()["detail"]) == (
        409,
        "This study is paused; it cannot become paused from there.",
    )
    assert closed.json()["state"] == "closed"
    assert Enrolment.objects.get().user == ada


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"task_types": []}, "task_types"),
        ({"task_types": ["passage_use"]}, "task_types"),
        ({"name": "new"}, "is taken"),
        ({"assessors": ["nobody"]}, "Not among the people of your studies: “nobody”"),
        ({"criteria": [{"name": "charm"}]}, "There is no criterion"),
        ({"criteria": [{"name": "rating", "threshold": 9}]}, "must be one of"),
        ({"criteria": [{"name": "rating", "grades": [{"value": 1, "name": "a", "text": "b"}]}]}, "in this order"),
        ({"sample_sizes": {"charm": 3}}, "not a task type"),
        ({"overlap": 0}, "greater than or equal to 1"),
    ],
)
def test_a_broken_study_is_refused_and_says_why(
    collection: Collection, rosa: User, change: dict[str, Any], complaint: str
) -> None:
    new = {"collection": "bridges", "name": "round-1", "task_types": ["rating"], "guidelines": "Read it."}

    response = client_of(rosa).post(f"{API}/studies/", new | change, format="json")

    assert response.status_code == 400
    assert complaint in response.content.decode()
    assert not Study.objects.exists()


def test_assessors_and_strangers_make_no_study_of_rosas(collection: Collection, ada: User, mallory: User) -> None:
    new = {"collection": "bridges", "name": "round-1", "task_types": ["rating"], "guidelines": "Read it."}

    assert client_of(ada).post(f"{API}/studies/", new, format="json").status_code == 403
    assert client_of(mallory).post(f"{API}/studies/", new, format="json").status_code == 400


@pytest.mark.parametrize("move", ["open", "pause", "close", "reopen", "guidelines", "enrolments"])
def test_mallory_meets_404_everywhere(study: Study, mallory: User, move: str) -> None:
    client = client_of(mallory)

    assert client.get(f"{API}/studies/{study.name}/").status_code == 404
    assert client.get(f"{API}/studies/{study.name}/progress/").status_code == 404
    assert client.get(f"{API}/studies/").json()["results"] == []
    response = client.post(
        f"{API}/studies/{study.name}/{move}/", {"markdown": "x", "usernames": ["eve"]}, format="json"
    )
    assert response.status_code == 404
    assert not User.objects.filter(username="eve").exists()


def test_without_a_token_there_is_nothing(study: Study) -> None:
    assert APIClient().get(f"{API}/studies/").status_code == 401


def test_opening_what_lacks_its_texts_is_a_conflict_that_says_so(collection: Collection, rosa: User) -> None:
    study = a_study_of(collection, "rating")

    response = client_of(rosa).post(f"{API}/studies/{study.name}/open/")

    assert response.status_code == 409
    assert "has no ranked passage" in response.json()["detail"]


def test_people_come_with_their_passwords_once_and_go(study: Study, rosa: User, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(made_for=study.collection)
    client = client_of(rosa)

    made = client.post(f"{API}/studies/{study.name}/enrolments/", {"usernames": ["ada", "carla"]}, format="json")
    broken = client.post(f"{API}/studies/{study.name}/enrolments/", {"usernames": ["two words"]}, format="json")
    gone = client.delete(f"{API}/studies/{study.name}/enrolments/ada/")
    listed = client.get(f"{API}/studies/{study.name}/enrolments/").json()

    assert [account["username"] for account in made.json()] == ["carla@bridges"]
    assert User.objects.get(username="carla@bridges").check_password(made.json()[0]["password"])
    assert (broken.status_code, gone.status_code) == (400, 204)
    assert [(row["username"], row["left_at"] is None) for row in listed] == [("ada", False), ("carla@bridges", True)]


def test_progress_counts_what_ada_does(collection: Collection, rosa: User, ada: User) -> None:
    study = an_open_study_for(collection, ada)
    client_of(ada).post(f"{API}/assignments/next/{study.name}/")

    progress = client_of(rosa).get(f"{API}/studies/{study.name}/progress/").json()

    assert progress["task_types"] == [
        {"task_type": "answerability", "tasks": 2, "places": 2, "filled": 1, "submitted": 0}
    ]
    assert progress["assessors"][0]["open"] == 1
    assert progress["criteria"] == []


def test_progress_counts_what_people_are_not_sure_of(study: Study, rosa: User, ada: User) -> None:
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [1, 0, 0])
    Judgment.objects.filter(grade=1).update(unsure=True)

    progress = client_of(rosa).get(f"{API}/studies/{study.name}/progress/").json()
    page = signed_in(rosa).get(f"/studies/{study.name}/")

    assert progress["criteria"] == [{"criterion": "answerability", "grades": 3, "unsure": 1}]
    assert "1 (33 %)" in page.text


# --- The assessor's side --------------------------------------------------------------------------


def test_ada_works_through_a_study(collection: Collection, ada: User) -> None:
    study = an_open_study_for(collection, ada)
    client = client_of(ada)
    submitted = 0

    while (response := client.post(f"{API}/assignments/next/{study.name}/")).status_code == 200:
        assignment = response.json()
        for question in assignment["questions"]:
            choice = {
                "item": question["item"],
                "criterion": question["answers"][0]["criterion"],
                "grade": 1,
                "spans": [{"start": 0, "end": 7, "quote": assignment["text"][:7]}],
                "seconds": 3,
            }
            saved = client.post(f"{API}/assignments/{assignment['id']}/choices/", choice, format="json")
            assert saved.json() == {"state": "judged", "lack": "", "submitted": False}
        submitted += client.post(f"{API}/assignments/{assignment['id']}/submit/").status_code == 204

    assert (submitted, response.status_code) == (2, 204)
    assert Judgment.objects.filter(grade=1).count() == 6


def test_an_unfinished_assignment_is_not_submitted_and_says_what_it_lacks(collection: Collection, ada: User) -> None:
    study = an_open_study_for(collection, ada)
    assignment = client_of(ada).post(f"{API}/assignments/next/{study.name}/").json()

    response = client_of(ada).post(f"{API}/assignments/{assignment['id']}/submit/")

    assert response.status_code == 409
    assert "Not finished yet" in response.json()["detail"]


@pytest.mark.parametrize(
    "change",
    [
        {"grade": 4},
        {"spans": [{"start": 0, "end": 3, "quote": "xyz"}]},
        {"spans": [{"start": 0, "end": 9999, "quote": "x"}]},
        {"seconds": -1},
        {"item": "one"},
    ],
)
def test_a_choice_that_does_not_fit_is_refused(collection: Collection, ada: User, change: dict[str, Any]) -> None:
    study = an_open_study_for(collection, ada)
    assignment = client_of(ada).post(f"{API}/assignments/next/{study.name}/").json()
    question = assignment["questions"][0]
    choice = {
        "item": question["item"],
        "criterion": question["answers"][0]["criterion"],
        "grade": 1,
        "spans": [{"start": 0, "end": 7, "quote": assignment["text"][:7]}],
    }

    response = client_of(ada).post(f"{API}/assignments/{assignment['id']}/choices/", choice | change, format="json")

    assert response.status_code == 400
    assert not Judgment.objects.exists()


def test_a_choice_says_that_it_is_not_sure(collection: Collection, ada: User) -> None:
    study = an_open_study_for(collection, ada)
    client = client_of(ada)
    assignment = client.post(f"{API}/assignments/next/{study.name}/").json()
    question = assignment["questions"][0]
    choice = {"item": question["item"], "criterion": question["answers"][0]["criterion"], "grade": 0, "unsure": True}

    client.post(f"{API}/assignments/{assignment['id']}/choices/", choice, format="json")

    shown = client.get(f"{API}/assignments/{assignment['id']}/").json()["questions"][0]["answers"][0]
    assert (shown["grade"], shown["unsure"]) == (0, True)


def test_what_is_set_aside_lets_others_come_first_and_a_skip_is_taken_back(collection: Collection, ada: User) -> None:
    study = an_open_study_for(collection, ada)
    client = client_of(ada)
    first = client.post(f"{API}/assignments/next/{study.name}/").json()["id"]

    aside = client.post(f"{API}/assignments/{first}/later/")
    second = client.post(f"{API}/assignments/next/{study.name}/").json()["id"]
    unreasoned = client.post(f"{API}/assignments/{second}/skip/")
    skipped = client.post(f"{API}/assignments/{second}/skip/", {"reason": "unclear"}, format="json")
    state = Assignment.objects.get(pk=second).state
    back = client.delete(f"{API}/assignments/{second}/skip/")

    assert [one.status_code for one in (aside, unreasoned, skipped, back)] == [204, 400, 204, 204]
    assert second != first
    assert (state, Assignment.objects.get(pk=second).state) == ("returned", "open")


def test_a_skip_is_not_taken_back_once_somebody_else_has_the_task(collection: Collection, ada: User, ben: User) -> None:
    study = an_open_study_for(collection, ada, ben)
    client = client_of(ada)
    mine = client.post(f"{API}/assignments/next/{study.name}/").json()["id"]
    client.post(f"{API}/assignments/{mine}/skip/", {"reason": "unclear"}, format="json")
    Place.objects.filter(task__assignments=mine).update(holder=rater_of(ben))

    refused = client.delete(f"{API}/assignments/{mine}/skip/")

    assert refused.status_code == 409
    assert client_of(ben).delete(f"{API}/assignments/{mine}/skip/").status_code == 404


def test_ben_cannot_touch_adas_assignment(collection: Collection, ada: User, ben: User) -> None:
    study = an_open_study_for(collection, ada, ben)
    adas = client_of(ada).post(f"{API}/assignments/next/{study.name}/").json()["id"]
    client = client_of(ben)

    assert client.get(f"{API}/assignments/{adas}/").status_code == 404
    assert client.post(f"{API}/assignments/{adas}/submit/").status_code == 404
    assert client.post(f"{API}/assignments/{adas}/return/").status_code == 404
    assert Assignment.objects.get(pk=adas).state == Assignment.State.OPEN


def test_a_stranger_gets_no_work(collection: Collection, ada: User, mallory: User) -> None:
    study = an_open_study_for(collection, ada)

    assert client_of(mallory).post(f"{API}/assignments/next/{study.name}/").status_code == 404


def test_what_is_given_back_is_free_and_what_is_submitted_stays(collection: Collection, ada: User) -> None:
    study = an_open_study_for(collection, ada)
    client = client_of(ada)
    first = client.post(f"{API}/assignments/next/{study.name}/").json()["id"]
    returned = client.post(f"{API}/assignments/{first}/return/")
    second = client.post(f"{API}/assignments/next/{study.name}/").json()["id"]
    Assignment.objects.filter(pk=second).update(state=Assignment.State.SUBMITTED)

    refused = client.post(f"{API}/assignments/{second}/return/")

    assert (returned.status_code, refused.status_code) == (204, 409)
    assert set(Assignment.objects.values_list("pk", "state")) == {(first, "returned"), (second, "submitted")}


def test_the_schema_names_the_paths(rosa: User) -> None:
    schema = client_of(rosa).get("/api/schema/?format=json").json()

    assert {f"{API}/studies/{{name}}/open/", f"{API}/assignments/{{id}}/choices/"} <= schema["paths"].keys()


def test_a_study_gets_its_design_and_our_guidelines(collection: Collection, rosa: User) -> None:
    new = {
        "collection": "bridges",
        "name": "round-1",
        "task_types": ["answerability", "key_point"],
        "design": {"control_share": 0.1, "even": True, "batch_size": 5, "sampling": "stratified", "strata": "system"},
    }

    response = client_of(rosa).post(f"{API}/studies/", new, format="json")

    study = Study.objects.get(name="round-1")
    assert response.status_code == 201
    assert design_of(study) == Design(
        control_share=0.1, even=True, batch_size=5, sampling="stratified", strata="system"
    )
    guidelines = study.guidelines.get().markdown
    assert "## Does the report answer the question?" in guidelines
    assert "## Is this a key point of the document?" in guidelines
    assert "nugget" not in guidelines


@pytest.mark.parametrize("design", [{"control_share": 2}, {"sampling": "none"}, {"timeout_minutes": 0}])
def test_a_design_that_is_none_is_refused(collection: Collection, rosa: User, design: dict[str, Any]) -> None:
    new = {"collection": "bridges", "name": "round-1", "task_types": ["rating"], "design": design}

    response = client_of(rosa).post(f"{API}/studies/", new, format="json")

    assert response.status_code == 400
    assert "design" in response.json()


@pytest.mark.parametrize("task_type", RULES)
def test_every_task_type_has_guidelines_of_ours(task_type: str) -> None:
    assert standard_guidelines([task_type]).startswith(("## ", "Read the whole text"))
