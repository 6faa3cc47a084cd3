"""The API's part about collections and judgments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.http import FileResponse
from django.test import Client

from collection.exporting.judgments import exported_judgments
from collection.models import Collection, EarlierJudgment, Highlight, Item, Judgment, Rater, Report, Study, User
from tests.collection.files import everything
from tests.factories import a_token, an_item


def as_user(user: User) -> Client:
    """A program with this user's token."""
    return Client(headers={"Authorization": f"Token {a_token(user)}"})


@pytest.fixture
def rosas(rosa: User) -> Client:
    return as_user(rosa)


@pytest.fixture
def items(study: Study) -> list[Item]:
    """The three sub-questions of Rosa's first report."""
    report = Report.objects.get(topic__topic_id="t0")
    elements = report.topic.rubric_elements.filter(kind="sub_question").order_by("position")
    return [an_item(study, "answerability", topic=report.topic, element=one, text=report) for one in elements]


def row(item: Item, grade: float = 1, **fields: Any) -> dict[str, Any]:
    return {"item_id": item.item_id, "criterion": "answerability", "grade": grade} | fields


def write(client: Client, study: Study, rows: Any) -> Any:
    return client.post(f"/api/v1/studies/{study.name}/judgments/", json.dumps(rows), content_type="application/json")


def test_the_schema_is_valid_and_made_without_complaint(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json")

    written = capsys.readouterr()
    assert "/api/v1/studies/{name}/judgments/" in json.loads(written.out)["paths"]
    assert written.err == ""


def test_rosa_reads_her_collections(rosas: Client, collection: Collection) -> None:
    listed = rosas.get("/api/v1/collections/").json()
    found = rosas.get("/api/v1/collections/bridges/").json()

    assert [one["name"] for one in listed["results"]] == ["bridges"]
    assert (found["name"], found["title"], found["owner"]) == ("bridges", "Bridges", "rosa")


@pytest.mark.parametrize(
    ("part", "count"), [("topics", 2), ("passages", 4), ("runs", 1), ("reports", 2), ("rankings", 0)]
)
def test_rosa_reads_what_is_in_a_collection(rosas: Client, collection: Collection, part: str, count: int) -> None:
    assert len(rosas.get(f"/api/v1/collections/bridges/{part}/").json()["results"]) == count


def test_a_topic_comes_with_its_rubric_elements(rosas: Client, collection: Collection) -> None:
    topic = rosas.get("/api/v1/collections/bridges/topics/").json()["results"][0]

    assert topic["topic_id"] == "t0"
    assert {element["kind"] for element in topic["rubric_elements"]} == {"sub_question", "key_point"}


def test_rosa_makes_a_collection(rosas: Client, rosa: User) -> None:
    made = rosas.post("/api/v1/collections/", {"name": "piers"}, content_type="application/json")
    again = rosas.post("/api/v1/collections/", {"name": "piers"}, content_type="application/json")

    assert (made.status_code, again.status_code) == (201, 400)
    assert Collection.objects.get(name="piers").owner == rosa


def test_an_assessor_makes_no_collection(ada: User) -> None:
    response = as_user(ada).post("/api/v1/collections/", {"name": "piers"}, content_type="application/json")

    assert response.status_code == 403
    assert not Collection.objects.exists()


@pytest.mark.parametrize("name", ["mallory", "ada"])
def test_a_stranger_finds_nothing(study: Study, items: list[Item], mallory: User, ada: User, name: str) -> None:
    client = as_user(User.objects.get(username=name))
    before = everything()

    statuses = [client.get(f"/api/v1/collections/bridges/{part}").status_code for part in ["", "topics/", "passages/"]]
    statuses += [client.get(f"/api/v1/studies/{study.name}/judgments/").status_code]
    statuses += [write(client, study, [row(items[0])]).status_code]

    assert set(statuses) == {404}
    assert client.get("/api/v1/collections/").json()["results"] == []
    assert everything() == before


def test_without_a_token_there_is_nothing(client: Client, study: Study) -> None:
    assert client.get("/api/v1/collections/").status_code == 401
    assert write(client, study, []).status_code == 401


def test_a_session_does_not_write_without_the_csrf_token(rosa: User, study: Study, items: list[Item]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(rosa)

    assert write(client, study, [row(items[0])]).status_code == 403
    assert not Judgment.objects.exists()


def test_rosa_judges_as_herself(rosas: Client, study: Study, items: list[Item], rosa: User) -> None:
    text = items[0].judged_text.text or ""
    start = text.index("🌉")
    highlight = {"start": start, "end": start + 1, "quote": "🌉"}

    response = write(
        rosas, study, [row(items[0], highlights=[highlight], seconds=4.5, guideline_version=1), row(items[1], 0)]
    )

    assert (response.status_code, response.json()) == (200, {"judgments": 2})
    judgment = Judgment.objects.get(item=items[0])
    assert (judgment.rater.user, judgment.grade, judgment.seconds) == (rosa, 1, 4.5)
    assert judgment.guideline == study.guidelines.get()
    assert Highlight.objects.values_list("start", "quote").get() == (start, "🌉")


def test_judgments_may_be_those_of_an_imported_rater(rosas: Client, study: Study, items: list[Item]) -> None:
    write(rosas, study, [row(items[0], rater="gpt", rater_kind="judge")])

    rater = Rater.objects.get(name="gpt")
    assert (rater.kind, rater.origin, rater.collection) == ("judge", "imported", study.collection)
    assert rater.source == "written through the API by rosa"
    assert Judgment.objects.get().guideline is None


def test_nobody_writes_in_the_name_of_another_person(
    rosas: Client, study: Study, items: list[Item], ada_as_rater: Rater
) -> None:
    write(rosas, study, [row(items[0], rater="ada")])

    judgment = Judgment.objects.get()
    assert judgment.rater != ada_as_rater
    assert judgment.rater.origin == "imported"


def test_a_change_of_mind_keeps_the_earlier_judgment(rosas: Client, study: Study, items: list[Item]) -> None:
    write(rosas, study, [row(items[0], 1)])

    write(rosas, study, [row(items[0], 0)])

    assert Judgment.objects.get().grade == 0
    assert EarlierJudgment.objects.get().grade == 1


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"item_id": "nowhere"}, "no item “nowhere”"),
        ({"criterion": "beauty"}, "no criterion “beauty”"),
        ({"criterion": "rating"}, "is not judged under “rating”"),
        ({"grade": 3}, "3 is not a grade"),
        ({"grade": "high"}, "grade: A valid number is required."),
        ({"grade": None}, "grade: This field may not be null."),
        ({"highlights": [{"start": 0, "end": 4, "quote": "here"}]}, "is not what was highlighted"),
        ({"highlights": [{"start": 0, "end": 4}]}, "highlights"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": "inf"}, "seconds: A valid number"),
        ({"rater": "x", "rater_kind": "robot"}, "rater_kind"),
    ],
)
def test_one_bad_row_keeps_all_out(
    rosas: Client, study: Study, items: list[Item], fields: dict[str, Any], error: str
) -> None:
    before = everything()

    response = write(rosas, study, [row(items[0]), row(items[1]) | fields])

    assert response.status_code == 400
    [problem] = response.json()["rows"]
    assert problem["row"] == 1
    assert error in problem["error"]
    assert everything() == before


@pytest.mark.parametrize("sent", [{}, [], "nonsense", [1], [{}] * 2_001])
def test_something_else_than_a_list_of_rows_is_refused(rosas: Client, study: Study, sent: Any) -> None:
    response = write(rosas, study, sent)

    assert response.status_code == 400
    assert response.json()["rows"]


def test_judgments_are_read_by_criterion_rater_and_item(rosas: Client, study: Study, items: list[Item]) -> None:
    write(rosas, study, [row(item, rater=name) for item in items for name in ("gpt", "nist")])

    def found(**query: str) -> list[tuple[str, str]]:
        answer = rosas.get(f"/api/v1/studies/{study.name}/judgments/", query).json()
        return [(one["item_id"], one["rater"]) for one in answer["results"]]

    assert len(found()) == len(found(criterion="answerability")) == 6
    assert found(criterion="rating") == []
    assert found(rater="gpt") == [(item.item_id, "gpt") for item in items]
    assert found(rater="gpt", item=items[1].item_id) == [(items[1].item_id, "gpt")]
    assert found(rater_kind="judge") == []


def test_many_judgments_are_read_page_by_page_in_few_queries(
    rosas: Client, study: Study, items: list[Item], django_assert_max_num_queries: Any
) -> None:
    write(rosas, study, [row(items[0], rater=f"rater {number}") for number in range(120)])

    with django_assert_max_num_queries(6):
        first = rosas.get(f"/api/v1/studies/{study.name}/judgments/").json()
    second = rosas.get(first["next"]).json()

    assert (len(first["results"]), len(second["results"]), second["next"]) == (100, 20, None)


@pytest.mark.parametrize(
    "asked", [{"query_params": {"format": "ndjson"}}, {"headers": {"accept": "application/x-ndjson"}}]
)
def test_all_judgments_come_in_one_stream_as_the_export_writes_them(
    rosas: Client, study: Study, items: list[Item], asked: dict[str, Any]
) -> None:
    write(rosas, study, [row(item, rater=name) for item in items for name in ("gpt", "nist")])
    address = f"/api/v1/studies/{study.name}/judgments/"

    response = rosas.get(address, **asked)
    chosen = rosas.get(address, {"format": "ndjson", "rater": "gpt", "item": items[1].item_id})

    assert isinstance(response, FileResponse)
    assert isinstance(chosen, FileResponse)
    assert response["Content-Type"] == "application/x-ndjson"
    assert response.getvalue().decode() == "".join(exported_judgments(study, table="jsonl"))
    [line] = chosen.getvalue().splitlines()
    assert (json.loads(line)["rater"], json.loads(line)["item_id"]) == ("gpt", items[1].item_id)


def test_a_stranger_gets_no_stream(client: Client, mallory: User, study: Study) -> None:
    client.force_login(mallory)

    response = client.get(f"/api/v1/studies/{study.name}/judgments/", {"format": "ndjson"})

    assert response.status_code == 404
