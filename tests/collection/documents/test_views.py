"""The page of documents, opening one for the first time, and the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django.asserts import assertContains, assertNotContains
from pytest_django.fixtures import Settings

from annotate.studies.lifecycle import open_study
from collection.models import Collection, DocumentFetch, DocumentSource, Passage, RankedPassage, Rater, Run, User
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.browser import SignIn, check_accessibility
from tests.collection.documents.document_server import DocumentServer, Said, document_server
from tests.evaluation.answered import give

pytestmark = pytest.mark.django_db
KEY = "k-9f8e7d6c5b4a"


@pytest.fixture
def server(settings: Settings) -> Iterator[DocumentServer]:
    with document_server() as started:
        settings.DOCUMENT_HOSTS = ["127.0.0.1"]
        started.answers["/d/c-gone"] = Said(b"It rained in 1604.")
        yield started


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def test_rosa_sets_a_source_and_fetches(as_rosa: Client, collection: Collection, server: DocumentServer) -> None:
    with_cited_reports(collection)
    Passage.objects.create(collection=collection, passage_id="<b>j</b>")
    page = reverse("collection:documents", args=[collection.name])
    assertContains(as_rosa.get(page), "missing</dt><dd>2</dd>")

    sent = {"kind": "http", "address": f"{server.url}/d/{{id}}", "key": KEY, "depth": "10"}
    assert as_rosa.post(page, sent).status_code == 302
    as_rosa.post(reverse("collection:documents_fetch", args=[collection.name]), {"action": "start"})

    shown = as_rosa.get(page)
    assertContains(shown, "1 fetched, 1 failed")
    assertContains(shown, "&lt;b&gt;j&lt;/b&gt;")
    assertContains(shown, "The server has no such document (404).")
    assertNotContains(shown, KEY)
    assert KEY not in DocumentSource.objects.get().sealed
    assert {headers["Authorization"] for _, headers in server.asked} == {f"Bearer {KEY}"}
    assert as_rosa.get(page, HTTP_HX_REQUEST="true")["HX-Refresh"] == "true"
    DocumentSource.objects.update(state="fetching", heard_of_at=now())
    part = as_rosa.get(page, HTTP_HX_REQUEST="true")
    assertContains(part, "Pause")
    assertNotContains(part, "<html")


def test_what_cannot_be_a_source_is_told_beside_its_field(as_rosa: Client, collection: Collection) -> None:
    page = reverse("collection:documents", args=[collection.name])

    for kind, address, reason in [
        ("http", "https://docs.example.org/", "Write {id} once"),
        ("http", "https://a:b@docs.example.org/{id}", "Enter the key in its own field"),
        ("folder", "web", "Folders are switched off here"),
        ("pigeon", "web", "Select a valid choice"),
    ]:
        response = as_rosa.post(page, {"kind": kind, "address": address, "depth": "10"})
        assertContains(response, reason, status_code=422)
    assert not DocumentSource.objects.exists()


def test_a_key_is_kept_for_its_own_address_only(as_rosa: Client, collection: Collection) -> None:
    page = reverse("collection:documents", args=[collection.name])
    sent = {"kind": "http", "address": "https://a.example.org/{id}", "depth": "10"}
    as_rosa.post(page, {**sent, "key": KEY})

    as_rosa.post(page, {**sent, "text_field": "text"})
    kept = DocumentSource.objects.get().sealed
    as_rosa.post(page, {**sent, "address": "https://b.example.org/{id}"})

    assert kept
    assert DocumentSource.objects.get().sealed == ""


def test_a_document_is_fetched_when_it_is_opened_in_its_report(
    as_rosa: Client, collection: Collection, server: DocumentServer, ada_as_rater: Rater
) -> None:
    [report] = with_cited_reports(collection)
    study = a_study_of(collection, "citation_support")
    open_study(study=study, at=now())
    give(study, "citation_support", ada_as_rater, study.items.filter(task_type="citation_support")[0], 1)
    page = reverse("evaluation:cited_report", args=[study.name, report.pk])
    assertNotContains(as_rosa.get(page), "Fetch its text")
    DocumentSource.objects.create(collection=collection, kind="http", address=f"{server.url}/d/{{id}}")
    assertContains(as_rosa.get(page), "Fetch its text", count=1)

    back = as_rosa.post(reverse("collection:document", args=[collection.name]), {"docno": "c-gone", "back": page})

    assert back["Location"] == page
    assertContains(as_rosa.get(page), "It rained in 1604.")
    assert DocumentFetch.objects.get().fetched_at is not None


def test_a_document_is_fetched_when_it_is_opened_on_its_topics_page(
    as_rosa: Client, collection: Collection, server: DocumentServer
) -> None:
    topic = collection.topics.all()[0]
    run = Run.objects.get(name="alpha-1")
    RankedPassage.objects.create(run=run, topic=topic, passage_id="c-gone", rank=1, score=1)
    DocumentSource.objects.create(collection=collection, kind="http", address=f"{server.url}/d/{{id}}")
    page = reverse("collection:topic", args=[collection.name, topic.pk])
    assertContains(as_rosa.get(page), "Fetch its text")

    fetched = as_rosa.post(
        reverse("collection:document", args=[collection.name]), {"docno": "c-gone", "back": page}, follow=True
    )

    assertContains(fetched, "The text of “c-gone” is fetched.")
    assertContains(fetched, "It rained in 1604.")


def test_a_document_that_is_opened_is_shown_in_its_place(
    as_rosa: Client, collection: Collection, server: DocumentServer
) -> None:
    with_cited_reports(collection)
    document = reverse("collection:document", args=[collection.name])
    htmx = {"HX-Request": "true"}

    without = as_rosa.post(document, {"docno": "c-gone"}, headers=htmx)
    DocumentSource.objects.create(collection=collection, kind="http", address=f"{server.url}/d/{{id}}")
    shown = as_rosa.post(document, {"docno": "c-gone"}, headers=htmx)

    assertContains(without, "Fetch its text")
    assertContains(without, "names no source")
    assertContains(shown, "It rained in 1604.")
    assertNotContains(shown, "<html")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_opening_a_document_fetches_it(
    open_page: Callable[..., Page],
    sign_in: SignIn,
    rosa: User,
    collection: Collection,
    server: DocumentServer,
) -> None:
    topic = collection.topics.all()[0]
    run = Run.objects.get(name="alpha-1")
    RankedPassage.objects.create(run=run, topic=topic, passage_id="c-gone", rank=1, score=1)
    DocumentSource.objects.create(collection=collection, kind="http", address=f"{server.url}/d/{{id}}")
    page = open_page()
    sign_in(page, rosa)
    page.goto(reverse("collection:topic", args=[collection.name, topic.pk]))
    assert DocumentFetch.objects.filter(fetched_at__isnull=False).count() == 0

    page.get_by_text("c-gone").first.click()

    expect(page.get_by_text("It rained in 1604.")).to_be_visible()
    check_accessibility(page)


def test_what_comes_back_leads_nowhere_else(as_rosa: Client, collection: Collection) -> None:
    sent = {"docno": "x", "back": "https://evil.example.org/"}

    response = as_rosa.post(reverse("collection:document", args=[collection.name]), sent)

    assert response["Location"] == reverse("collection:documents", args=[collection.name])


def test_strangers_find_nothing(client: Client, mallory: User, collection: Collection) -> None:
    client.force_login(mallory)

    for name in ("documents", "documents_fetch", "document"):
        assert client.post(reverse(f"collection:{name}", args=[collection.name])).status_code == 404
    for name in ("document_source", "document_fetching", "document_fetches", "missing_texts"):
        assert client.get(reverse(f"api:{name}", args=[collection.name])).status_code == 404


def test_the_api_sets_starts_and_lists(as_rosa: Client, collection: Collection, server: DocumentServer) -> None:
    with_cited_reports(collection)
    Passage.objects.create(collection=collection, passage_id="j-1")
    address = {name: reverse(f"api:{name}", args=[collection.name]) for name in API}
    assert as_rosa.get(address["document_source"]).status_code == 404
    assert as_rosa.post(address["document_fetching"], {}, content_type="application/json").status_code == 409

    sent = {"kind": "http", "address": f"{server.url}/d/{{id}}", "key": KEY, "depth": 5}
    put = as_rosa.put(address["document_source"], sent, content_type="application/json")
    started = as_rosa.post(address["document_fetching"], {"action": "start"}, content_type="application/json")

    assert put.json() == {
        "kind": "http",
        "address": sent["address"],
        "text_field": "",
        "title_field": "",
        "depth": 5,
        "has_key": True,
    }
    assert started.status_code == 202
    told = started.json()
    assert (told["state"], told["missing"], told["fetched"], told["failed"], told["left"]) == ("done", 1, 1, 1, 0)
    assert as_rosa.get(address["missing_texts"]).json() == {
        "n": 1,
        "documents": [{"passage_id": "j-1", "named_by": "judged", "problem": "The server has no such document (404)."}],
    }
    rows = {row["passage_id"]: row for row in as_rosa.get(address["document_fetches"]).json()["results"]}
    assert rows["c-gone"]["sha256"]
    assert KEY not in put.content.decode() + started.content.decode() + str(rows)
    refused = as_rosa.put(address["document_source"], sent | {"address": "x"}, content_type="application/json")
    assert (refused.status_code, list(refused.json())) == (400, ["address"])
    assert as_rosa.get(address["missing_texts"], {"limit": "0"}).status_code == 400
    assert as_rosa.delete(address["document_source"]).status_code == 204
    assert Passage.objects.filter(passage_id="c-gone").exists()


API = ("document_source", "document_fetching", "document_fetches", "missing_texts")
