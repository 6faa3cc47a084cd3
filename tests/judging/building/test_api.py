"""/api/v1/collections/…/builds/: the same services as the pages and the command."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from collection.models import Collection, RubricElement, User
from judging.building.forms import BuildForm
from judging.building.serializers import NewBuildSerializer
from judging.building.shipped import PIPELINES
from judging.engines import Reply
from judging.models import Build
from tests.factories import a_user
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db
OURS = """
name = "mine"
version = 3
text = "Ask {count} questions about {text}"
"""


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def path_of(collection: Collection) -> str:
    return f"/api/v1/collections/{collection.name}/builds/"


def new(**fields: Any) -> dict[str, Any]:
    return {"pipeline": "crux-questions", "summaries": "alpha-1", "count": 2} | fields


def two_questions(_: object) -> str:
    return "<q>One?</q><q>Two?</q>"


def test_takes_the_same_fields_as_the_page_and_the_command() -> None:
    fields: Any = NewBuildSerializer().fields

    assert set(fields) - {"pipeline", "prompts"} == set(BuildForm.base_fields)
    assert (fields["depth"].max_value, fields["temperature"].max_value) == (1000, 2)


def test_a_build_goes_from_its_estimate_to_the_collection(rosa: User, collection: Collection) -> None:
    client, builds = client_of(rosa), path_of(collection)

    expected = client.post(f"{builds}estimate/", new(), format="json").json()
    sent = {"token_limit": 5000, "temperature": 0.5, "price_in": 0.25}
    made = client.post(builds, new(prompts={"questions": OURS}, topics=["t0"], **sent), format="json")
    one = f"{builds}{made.json()['id']}/"
    finish(Build.objects.get(), Scripted(two_questions))
    shown = client.get(one).json()
    products = client.get(f"{one}products/", {"state": "proposed"}).json()["results"]
    keys = [product["id"] for product in products]
    decided = [
        client.post(f"{one}decisions/", {"products": [keys[0]], "decision": "accepted"}, format="json"),
        client.post(f"{one}decisions/", {"products": [keys[1]], "decision": "edited", "text": "2?"}, format="json"),
    ]
    added = client.post(f"{one}add/")

    assert (expected["most_calls"], expected["topics"], expected["left_out"]) == (2, 2, {})
    assert (made.status_code, made.json()["state"], made.json()["token_limit"]) == (201, "queued", 5000)
    assert made.json()["steps"][0]["prompts"]["questions"]["version"] == 3
    built = Build.objects.get()
    assert (built.created_by, built.price_in, built.options["temperature"]) == (rosa, 0.25, 0.5)
    (step,) = shown["steps"]
    assert (shown["state"], step["calls"], step["done"], step["products"]["proposed"]) == ("done", 1, 1, 2)
    assert [answer.json() for answer in decided] == [{"decided": 1}] * 2
    assert added.json() == {"new": 2, "known": 0, "into": None}
    edited = client.get(f"{one}products/", {"state": "edited"}).json()["results"]
    assert [(row["raw"], row["text"], row["reviewed_by"]) for row in edited] == [("Two?", "2?", "rosa")]
    assert RubricElement.objects.filter(element_id=edited[0]["element"], text="2?").exists()
    assert client.get(f"{one}calls/", {"step": "questions"}).json()["results"][0]["reply"] == "<q>One?</q><q>Two?</q>"
    assert [row["id"] for row in client.get(builds).json()["results"]] == [made.json()["id"]]


def test_pauses_resumes_under_other_limits_and_cancels(rosa: User, collection: Collection) -> None:
    client = client_of(rosa)
    build = a_build(collection, "crux-questions", by=rosa)
    one = f"{path_of(collection)}{build.pk}/"

    said = [client.post(f"{one}{move}/").json()["state"] for move in ("pause", "resume", "pause")]
    Build.objects.update(prompt_tokens=500, token_limit=400, price_in=1)
    spent = client.post(f"{one}resume/")
    unpriced = client.post(f"{one}resume/", {"cost_limit": -1}, format="json")
    resumed = client.post(f"{one}resume/", {"token_limit": 1000}, format="json")
    cancelled = client.post(f"{one}cancel/")

    assert said == ["paused", "queued", "paused"]
    assert (spent.status_code, unpriced.status_code) == (409, 400)
    assert (resumed.json()["token_limit"], resumed.json()["price_in"]) == (1000, 1)
    assert cancelled.json()["state"] == "cancelled"
    assert client.post(f"{one}pause/").status_code == 409


def test_does_a_step_again_and_asks_again_for_what_got_no_reply(rosa: User, collection: Collection) -> None:
    client = client_of(rosa)
    replies = iter([Reply(ungraded="engine_error", error="gone"), Reply("<q>One?</q>", finish_reason="stop")])
    build = finish(a_build(collection, "crux-questions", by=rosa), Scripted(lambda _: next(replies)))
    one = f"{path_of(collection)}{build.pk}/"

    failed = client.get(one).json()["without_reply"]
    asked = client.post(f"{one}ask-again/").json()
    finish(build, Scripted(two_questions))
    unknown = client.post(f"{one}again/", {"step": "none"}, format="json")
    bad = client.post(f"{one}again/", {"step": "questions", "prompt": "name = 1"}, format="json")
    again = client.post(f"{one}again/", {"step": "questions", "prompt": OURS, "seed": 7}, format="json").json()

    assert (failed, asked) == (1, {"asked": 1})
    assert (unknown.status_code, bad.status_code) == (400, 400)
    assert (again["seed"], again["steps"][0]["done"], again["steps"][0]["prompts"]["questions"]["name"]) == (
        7,
        0,
        "mine",
    )


@pytest.mark.parametrize(
    ("sent", "where"),
    [
        ({"pipeline": "none"}, "pipeline"),
        ({"depth": 0}, "depth"),
        ({"temperature": "hot"}, "temperature"),
        ({"cost_limit": 2.0}, "cost_limit"),
        ({"prompts": {"questions": "text = "}}, "questions"),
        ({"prompts": {"none": OURS}}, "none"),
        ({"topics": ["t0", "nowhere"]}, "nowhere"),
        ({"summaries": ""}, "summaries"),
        ({"engine": "openai"}, "model"),
    ],
)
def test_says_what_is_wrong_with_a_new_build(
    rosa: User, collection: Collection, sent: dict[str, Any], where: str
) -> None:
    answer = client_of(rosa).post(path_of(collection), new(**sent), format="json")

    assert answer.status_code == 400
    assert where in answer.content.decode()
    assert not Build.objects.exists()


def test_two_reviewers_do_not_see_each_others_word_before_both_have_spoken(rosa: User, collection: Collection) -> None:
    other = a_user("colleague", is_researcher=True)
    collection.researchers.add(other)
    build = finish(a_build(collection, "crux-questions", by=rosa, reviewers=2), Scripted(two_questions))
    one = f"{path_of(collection)}{build.pk}/"
    decision = {"products": [build.products.all()[0].pk], "decision": "accepted"}

    client_of(rosa).post(f"{one}decisions/", decision, format="json")
    theirs = client_of(other).get(f"{one}products/").json()["results"][0]
    client_of(other).post(f"{one}decisions/", decision, format="json")
    both = client_of(other).get(f"{one}products/").json()["results"][0]

    assert (theirs["state"], theirs["reviews"]) == ("proposed", [])
    assert (both["state"], [row["reviewer"] for row in both["reviews"]]) == ("accepted", ["rosa", "colleague"])


def test_what_cannot_be_decided_is_a_conflict(rosa: User, collection: Collection) -> None:
    build = finish(a_build(collection, "crux-questions", by=rosa), Scripted(two_questions))
    one = f"{path_of(collection)}{build.pk}/decisions/"

    gone = client_of(rosa).post(one, {"products": [10**6], "decision": "accepted"}, format="json")
    nothing = client_of(rosa).post(one, {"products": [], "decision": "accepted"}, format="json")

    assert (gone.status_code, nothing.status_code) == (409, 400)
    assert client_of(rosa).post(f"{path_of(collection)}{build.pk}/add/").status_code == 409


def test_lists_the_pipelines_with_their_steps(rosa: User, ada: User) -> None:
    listed = client_of(rosa).get("/api/v1/pipelines/").json()

    assert [one["name"] for one in listed] == list(PIPELINES)
    assert all(one["steps"] and one["makes"] for one in listed)
    assert client_of(ada).get("/api/v1/pipelines/").status_code == 403


def test_a_build_of_others_is_not_there(rosa: User, collection: Collection) -> None:
    build = finish(a_build(collection, "crux-questions", by=rosa), Scripted(two_questions))
    mallory = client_of(a_user("mallory", is_researcher=True))
    one = f"{path_of(collection)}{build.pk}/"

    found = [mallory.get(one + end).status_code for end in ("", "calls/", "products/")]
    found += [mallory.post(one + end).status_code for end in ("pause/", "again/", "decisions/", "add/", "ask-again/")]
    found += [mallory.post(path_of(collection)).status_code, mallory.get(path_of(collection)).status_code]

    assert set(found) == {404}
