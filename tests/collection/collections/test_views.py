"""The researcher's pages about collections."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects
from pytest_django.fixtures import Settings

from collection.importing.uploads import folder
from collection.models import (
    Collection,
    ElementSpan,
    Judgment,
    Passage,
    RankedPassage,
    Rater,
    Run,
    Study,
    System,
    Topic,
    Upload,
    User,
)
from tests.collection.files import everything
from tests.evaluation.judged import criterion_of, judge_items, report_items
from tests.factories import a_collection, a_judge_rater, a_user

TOPIC = b'{"type": "topic", "topic_id": "t9", "request": "Report on piers."}\n'


@pytest.fixture(autouse=True)
def media(settings: Settings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture
def topic(collection: Collection) -> Topic:
    return collection.topics.get(topic_id="t0")


def send(client: Client, content: bytes = TOPIC, name: str = "piers.jsonl", **fields: Any) -> str:
    """Upload a file to Rosa's collection, and return where its preview is."""
    data = {"file_format": "assize", "file": SimpleUploadedFile(name, content)} | fields
    response = client.post("/collections/bridges/import/", data)
    assert response.status_code == 302, response.content.decode()
    return str(response["Location"])


# --- Who may come in -----------------------------------------------------------------------------


def addresses(topic: Topic, study: Study) -> list[str]:
    return [
        "/collections/bridges/",
        f"/collections/bridges/topics/{topic.pk}/",
        "/collections/bridges/import/",
        "/collections/bridges/import/1/",
        "/collections/bridges/export/",
        f"/collections/bridges/studies/{study.name}/judgments.csv",
        f"/collections/bridges/studies/{study.name}/judgments.jsonl",
    ]


def test_a_stranger_finds_nothing(client: Client, topic: Topic, study: Study, mallory: User) -> None:
    client.force_login(mallory)

    statuses = {address: client.get(address).status_code for address in addresses(topic, study)}

    assert set(statuses.values()) == {404}
    assertNotContains(client.get("/collections/"), "Bridges")


def test_a_stranger_changes_nothing(client: Client, collection: Collection, mallory: User) -> None:
    client.force_login(mallory)
    before = everything()

    statuses = [
        client.post("/collections/bridges/", {"username": "mallory"}).status_code,
        client.post("/collections/bridges/researchers/rosa/dismiss/").status_code,
        client.post("/collections/bridges/import/", {}).status_code,
        client.post("/collections/bridges/import/1/").status_code,
        client.post("/collections/bridges/import/1/cancel/").status_code,
    ]

    assert set(statuses) == {404}
    assert everything() == before


def test_an_assessor_has_no_collections(client: Client, ada: User) -> None:
    client.force_login(ada)

    assert client.get("/collections/").status_code == 404
    assert client.post("/new-collection/", {"name": "mine"}).status_code == 404


def test_whoever_is_signed_out_is_asked_to_sign_in(client: Client, topic: Topic, study: Study) -> None:
    for address in ["/collections/", "/new-collection/", *addresses(topic, study)]:
        assertRedirects(client.get(address), f"/sign-in/?next={address}")


# --- Looking -------------------------------------------------------------------------------------


def test_collections_are_listed_with_what_they_hold(as_rosa: Client, collection: Collection) -> None:
    response = as_rosa.get("/collections/")

    assertContains(response, "Bridges")
    assertContains(response, "2 topics · 4 passages · 1 run")


def test_without_collections_the_page_says_how_to_begin(as_rosa: Client) -> None:
    assertContains(as_rosa.get("/collections/"), "No collections yet")


def test_a_collection_is_shown_with_its_topics_runs_and_studies(as_rosa: Client, study: Study, topic: Topic) -> None:
    response = as_rosa.get("/collections/bridges/")

    for part in ["Report on subject 0.", "alpha-1", study.name, f"/collections/bridges/topics/{topic.pk}/"]:
        assertContains(response, part)


def test_other_formats_stand_behind_the_studies_and_ask_for_a_run_only_where_two_are_ranked(
    as_rosa: Client, topic: Topic
) -> None:
    collection = topic.collection
    runs = [
        Run.objects.create(
            collection=collection, name=name, system=System.objects.create(collection=collection, name=name)
        )
        for name in ("one", "two", "reports-only")
    ]
    address = reverse("collection:collection", args=[collection.name])

    before = as_rosa.get(address).content.decode()
    for run in runs[:2]:
        RankedPassage.objects.create(run=run, topic=topic, passage_id="p0", rank=1, score=1.0)
    after = as_rosa.get(address).content.decode()

    assert before.index('id="studies"') < before.index('id="formats"') < before.index('id="researchers"')
    assert "Run of a pool" not in before
    assert "<option>one</option>" in after
    assert "<option>reports-only</option>" not in after


def test_a_collection_says_who_judged_how_much_and_where_it_came_from(
    as_rosa: Client, study: Study, ada_as_rater: Rater
) -> None:
    items = report_items(study)
    imported = [
        Rater.objects.create(collection=study.collection, kind="assessor", name=f"nist-{n}", origin="imported")
        for n in range(5)
    ]
    judge_items(criterion_of(study), ada_as_rater, items, [1, 0, 1, 1, 0, 1])
    for rater in imported:
        judge_items(criterion_of(study), rater, items[:2], [1, 1])
    judge_items(criterion_of(study), a_judge_rater(study.collection, "small-judge"), items, [1, 1, 0, 1, None, 0])

    page = as_rosa.get("/collections/bridges/").content.decode()
    rows = [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in page.split("Table of judgments")[1].split("<tr>")]

    assert "1 assessor : ada graded here 6 –" in rows[2]
    assert "5 assessors : nist-0, nist-1, nist-2 and 2 others imported from a file 10 –" in rows[3]
    assert "1 judge : small-judge graded here 6 1" in rows[4]
    assert "/studies/bridges-study/dashboard/" in page


def test_the_collection_page_needs_the_same_queries_for_many_topics(
    as_rosa: Client, study: Study, django_assert_max_num_queries: Any
) -> None:
    Topic.objects.bulk_create(
        Topic(collection=study.collection, topic_id=f"n{n}", request=f"Report on {n}.") for n in range(120)
    )

    with django_assert_max_num_queries(18):
        first = as_rosa.get("/collections/bridges/")
    last = as_rosa.get("/collections/bridges/?page=3")

    assertContains(first, "1–50 of 122")
    assertContains(last, "101–122 of 122")


def test_a_topic_is_shown_with_what_belongs_to_it(
    as_rosa: Client, topic: Topic, django_assert_max_num_queries: Any
) -> None:
    run = topic.reports.get().run
    run.ranking.create(topic=topic, passage_id="t0-p1", rank=1, score=2.5)
    run.ranking.create(topic=topic, passage_id="elsewhere#1", rank=2, score=1.5)

    with django_assert_max_num_queries(13):
        response = as_rosa.get(f"/collections/bridges/topics/{topic.pk}/")

    for part in [
        "Report on subject 0.",
        "What is fact 1 of subject 0?",
        ElementSpan.objects.filter(element__topic=topic)[0].quote,
        "🌉 Fact 1 is here too.\nAnd that is all of it.",
        "Passage 1 says fact 1 of subject 0.",
        "Its text is not in the collection.",
    ]:
        assertContains(response, part)


def test_a_topic_of_another_collection_is_not_found(as_rosa: Client, topic: Topic, mallory: User) -> None:
    other = a_collection(owner=mallory, name="piers").topics.get(topic_id="t0")

    assert as_rosa.get(f"/collections/bridges/topics/{other.pk}/").status_code == 404


def test_markup_in_a_text_is_shown_and_not_obeyed(as_rosa: Client, collection: Collection) -> None:
    topic = Topic.objects.create(collection=collection, topic_id="x", request="<script>alert(1)</script>")

    response = as_rosa.get(f"/collections/bridges/topics/{topic.pk}/")

    assertContains(response, "&lt;script&gt;alert(1)&lt;/script&gt;")
    assertNotContains(response, "<script>alert")


# --- Making and sharing --------------------------------------------------------------------------


def test_a_new_collection_is_rosas_and_goes_on_to_its_import(as_rosa: Client, rosa: User) -> None:
    response = as_rosa.post("/new-collection/", {"name": "piers", "title": "Piers"})

    assertRedirects(response, "/collections/piers/import/")
    assert Collection.objects.get(name="piers").owner == rosa


def test_a_name_is_derived_from_the_title(as_rosa: Client, collection: Collection) -> None:
    response = as_rosa.post("/new-collection/", {"name": "", "title": "Piers & quays, 2026"})
    taken = as_rosa.post("/new-collection/", {"title": "Bridges"})

    assertRedirects(response, "/collections/piers-quays-2026/import/")
    assertContains(taken, "already exists", status_code=422)


@pytest.mark.parametrize("name", ["", "bridges", "two words"])
def test_a_bad_name_is_refused(as_rosa: Client, collection: Collection, name: str) -> None:
    response = as_rosa.post("/new-collection/", {"name": name})

    assert response.status_code == 422
    assertContains(response, "not created", status_code=422)


def test_the_owner_takes_a_collection_away_again(as_rosa: Client, collection: Collection) -> None:
    collection.researchers.add(a_user("ruth", is_researcher=True))

    as_rosa.post("/collections/bridges/researchers/ruth/dismiss/")

    assert not collection.researchers.exists()


def test_a_guest_may_leave_but_not_send_others_away(client: Client, collection: Collection) -> None:
    ruth, carla = a_user("ruth", is_researcher=True), a_user("carla", is_researcher=True)
    collection.researchers.add(ruth, carla)
    client.force_login(ruth)

    other = client.post("/collections/bridges/researchers/carla/dismiss/")
    own = client.post("/collections/bridges/researchers/ruth/dismiss/")

    assert other.status_code == 404
    assertRedirects(own, "/collections/")
    assert list(collection.researchers.all()) == [carla]


# --- Importing -----------------------------------------------------------------------------------


def test_the_preview_tells_what_the_file_would_bring_and_changes_nothing(
    as_rosa: Client, collection: Collection
) -> None:
    before = everything()

    response = as_rosa.get(send(as_rosa))

    assertContains(response, "Contents of the file")
    assertContains(response, "Report on piers.")
    assert everything() == before


def test_the_confirmed_file_is_imported_and_removed(as_rosa: Client, collection: Collection) -> None:
    preview = send(as_rosa)

    response = as_rosa.post(preview, follow=True)

    assertRedirects(response, "/collections/bridges/")
    assertContains(response, "“piers.jsonl” is imported: 1 topic.")
    assert collection.topics.filter(topic_id="t9").exists()
    assert list(folder().iterdir()) == []


def test_a_file_that_is_already_there_says_so(as_rosa: Client, collection: Collection) -> None:
    as_rosa.post(send(as_rosa))

    assertContains(as_rosa.get(send(as_rosa)), "importing it would change nothing")


def test_a_broken_file_is_shown_with_its_lines_and_cannot_be_confirmed(as_rosa: Client, collection: Collection) -> None:
    before = everything()
    preview = send(as_rosa, TOPIC + b"nonsense\n" + b'{"type": "system"}\n')

    shown = as_rosa.get(preview)
    confirmed = as_rosa.post(preview)

    assertContains(shown, "2 problems")
    assertContains(shown, "“name” is missing")
    assertNotContains(shown, ">Import</button>")
    assert confirmed.status_code == 422
    assert everything() == before


def test_an_upload_belongs_to_its_uploader(as_rosa: Client, collection: Collection) -> None:
    preview = send(as_rosa)
    ruth = a_user("ruth", is_researcher=True)
    collection.researchers.add(ruth)
    as_ruth = Client()
    as_ruth.force_login(ruth)

    response = as_ruth.post(preview)

    assertRedirects(response, "/collections/bridges/import/")
    assert not collection.topics.filter(topic_id="t9").exists()


def test_an_upload_belongs_to_its_collection(as_rosa: Client, collection: Collection, rosa: User) -> None:
    a_collection(owner=rosa, name="piers")
    preview = send(as_rosa).replace("/bridges/", "/piers/")

    assertRedirects(as_rosa.post(preview), "/collections/piers/import/")


def test_an_unwanted_upload_is_removed(as_rosa: Client, collection: Collection) -> None:
    preview = send(as_rosa)

    as_rosa.post(f"{preview}cancel/")

    assert list(folder().iterdir()) == []
    assertRedirects(as_rosa.get(preview), "/collections/bridges/import/")


def test_uploads_nobody_came_back_to_are_removed_after_a_day(as_rosa: Client, collection: Collection) -> None:
    send(as_rosa)
    [old] = folder().iterdir()
    Upload.objects.update(uploaded_at=now() - timedelta(days=2))

    send(as_rosa)

    [left] = folder().iterdir()
    assert left != old
    assert left == Upload.objects.get().path


def test_a_file_that_no_upload_knows_is_removed_after_a_day(as_rosa: Client, collection: Collection) -> None:
    lost = folder() / "lost.jsonl"
    lost.write_text("{}")
    two_days_ago = time.time() - 2 * 86_400
    os.utime(lost, (two_days_ago, two_days_ago))

    send(as_rosa)

    assert not lost.exists()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"file_format": ""}, "This field is required"),
        ({"file_format": "word"}, "Select a valid choice"),
        ({"file": ""}, "This field is required"),
        ({"file": SimpleUploadedFile("empty.jsonl", b"")}, "empty"),
        ({"file_format": "judgments"}, "This field is required"),
        ({"file_format": "qrels", "study": "bridges-study"}, "This field is required"),
        ({"file_format": "qrels", "study": "elsewhere", "rater": "nist"}, "Select a valid choice"),
    ],
)
def test_a_form_that_lacks_something_is_shown_again(
    as_rosa: Client, study: Study, fields: dict[str, Any], problem: str
) -> None:
    data = {"file_format": "assize", "file": SimpleUploadedFile("piers.jsonl", TOPIC)} | fields

    response = as_rosa.post("/collections/bridges/import/", data)

    assertContains(response, problem, status_code=422)


def test_qrels_come_in_through_the_page(as_rosa: Client, study: Study) -> None:
    preview = send(as_rosa, b"t0 0 t0-p0 3\n", "a.qrels", file_format="qrels", study=study.name, rater="nist")

    as_rosa.post(preview, {"people": ["a.qrels"], "name-0": "nist"})

    judgment = Judgment.objects.get()
    assert (judgment.rater.name, judgment.rater.source, judgment.grade) == ("nist", "a.qrels", 3)


def test_qrels_need_no_study_to_come_in(as_rosa: Client, collection: Collection) -> None:
    assert not collection.studies.exists()
    preview = send(as_rosa, b"t0 0 t0-p0 3\n", "a.qrels", file_format="qrels", rater="nist")
    assertContains(as_rosa.get(preview), "The judgments go into the closed study “bridges-qrels”.")
    assert not collection.studies.exists()

    as_rosa.post(preview, {"people": ["a.qrels"], "name-0": "nist"})

    [study] = collection.studies.all()
    assert (study.name, study.state) == ("bridges-qrels", Study.State.CLOSED)
    assert Judgment.objects.get().criterion.study == study


def test_a_table_of_judgments_waits_for_a_study_and_says_where_to_make_one(
    as_rosa: Client, collection: Collection
) -> None:
    page = as_rosa.get("/collections/bridges/import/")

    assertContains(page, '<a href="/studies/new/?collection=bridges">Create one</a>')
    assertNotContains(page, "Choose a study")


def test_a_run_comes_in_through_the_page_under_another_name(as_rosa: Client, collection: Collection) -> None:
    preview = send(as_rosa, b"t0 Q0 t0-p0 1 9 tag\n", "a.run", file_format="run", run="bm25", system="anserini")

    as_rosa.post(preview)

    assert collection.runs.get(name="bm25").system.name == "anserini"


def test_a_table_and_passages_come_in_through_the_page(as_rosa: Client, study: Study) -> None:
    address = send(as_rosa, b"t0 0 t0-p0 3\n", "a.qrels", file_format="qrels", study=study.name, rater="nist")
    as_rosa.post(address, {"people": ["a.qrels"], "name-0": "nist"})
    rows = b"item_id,criterion,rater,grade\nrelevance/t0/t0-p0,relevance,other,1\n"

    as_rosa.post(send(as_rosa, rows, "a.csv", file_format="judgments", study=study.name))
    as_rosa.post(send(as_rosa, b'{"id": "p", "contents": "x"}', "p.jsonl", file_format="passages"))

    assert Judgment.objects.filter(rater__name="other", grade=1).exists()
    assert Passage.objects.filter(passage_id="p", text="x").exists()


# --- Exporting -----------------------------------------------------------------------------------


def test_a_collection_is_downloaded_as_a_file(as_rosa: Client, collection: Collection) -> None:
    response = as_rosa.get("/collections/bridges/export/")

    assert response["Content-Disposition"] == 'attachment; filename="bridges.jsonl"'
    lines = [json.loads(line) for line in body(response).splitlines()]
    assert lines[0].items() >= {"type": "collection", "name": "bridges", "title": "Bridges"}.items()
    assert len(lines) == 1 + 2 + 10 + 4 + 4 + 1 + 1 + 2


def test_a_studys_judgments_are_downloaded_as_a_table(as_rosa: Client, study: Study) -> None:
    address = send(as_rosa, b"t0 0 t0-p0 3\n", "a.qrels", file_format="qrels", study=study.name, rater="nist")
    as_rosa.post(address, {"people": ["a.qrels"], "name-0": "nist"})

    table = body(as_rosa.get(f"/collections/bridges/studies/{study.name}/judgments.csv"))
    lines = body(as_rosa.get(f"/collections/bridges/studies/{study.name}/judgments.jsonl"))

    assert table.splitlines()[1].startswith("t0,relevance/t0/t0-p0,relevance,nist,assessor,imported,3,")
    assert json.loads(lines)["grade"] == 3


def body(response: Any) -> str:
    parts: Iterator[bytes] = response.streaming_content
    return b"".join(parts).decode()
