"""Datasets of ir_datasets by page, POST and command, with a small package of the same interface in its place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now
from pytest_django.asserts import assertContains
from pytest_django.fixtures import Settings

from collection.importing.background import work_on_upload
from collection.models import Collection, Judgment, Passage, Rater, Run, System, Topic, Upload, User

pytestmark = pytest.mark.django_db


class Query(NamedTuple):
    query_id: str
    title: str
    description: str
    narrative: str

    def default_text(self) -> str:
        return self.title


class Doc(NamedTuple):
    doc_id: str
    title: str
    text: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


@dataclass
class Dataset:
    """What Assize asks of a dataset, as the package (0.6) answers it."""

    queries: Iterable[Query] = ()
    docs: Iterable[Doc] = ()
    qrels: Iterable[Qrel] = ()

    def has_queries(self) -> bool:
        return bool(self.queries)

    def has_docs(self) -> bool:
        return bool(self.docs)

    def has_qrels(self) -> bool:
        return bool(self.qrels)

    def queries_iter(self) -> Iterator[Query]:
        return iter(self.queries)

    def qrels_iter(self) -> Iterator[Qrel]:
        return iter(self.qrels)

    def docs_store(self) -> Dataset:
        return self

    def get_many_iter(self, ids: Iterable[str]) -> Iterator[Doc]:
        return (doc for doc in self.docs if doc.doc_id in set(ids))


class Unreachable(Dataset):
    def has_queries(self) -> bool:
        return True

    def queries_iter(self) -> Iterator[Query]:
        raise ConnectionError("no route to host")


STONES = Dataset(
    [Query("q1", "stones", "Why are bridges of stone?", "Not of wood."), Query("q2", "arches", "", "")],
    [Doc(f"d{number}", f"Stone {number}", f"Passage {number}.") for number in range(5)],
    [Qrel("q1", "d0", 2, "0"), Qrel("q2", "d1", 0, "0")],
)


@pytest.fixture
def _package(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = {"stones/judged": STONES, "stones": Dataset(docs=STONES.docs), "far": Unreachable()}
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=datasets.__getitem__))


@pytest.fixture
def _no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)


@pytest.fixture
def as_rosa(client: Client, rosa: User, settings: Settings, tmp_path: Any) -> Client:
    settings.MEDIA_ROOT = tmp_path / "media"
    client.force_login(rosa)
    return client


def work() -> None:
    for upload in Upload.objects.at_work():
        work_on_upload(pk=upload.pk, generation=upload.generation, at=now())


@pytest.mark.usefixtures("_package")
def test_topics_come_by_command(rosa: User) -> None:
    call_command("import", collection="stones", owner="rosa", ir_dataset=["stones/judged"], quiet=True)

    topics = Collection.objects.get().topics.order_by("topic_id")
    assert list(topics.values_list("topic_id", "request", "title", "attributes")) == [
        ("q1", "Why are bridges of stone?", "stones", {"narrative": "Not of wood."}),
        ("q2", "arches", "", {}),
    ]
    assert not Passage.objects.exists()
    assert not Judgment.objects.exists()


@pytest.mark.usefixtures("_package")
def test_passages_are_those_that_qrels_and_runs_name(rosa: User, collection: Collection) -> None:
    run = Run.objects.create(collection=collection, system=System.objects.create(collection=collection, name="a"))
    topic = collection.topics.first()
    assert topic is not None
    run.ranking.create(topic=topic, passage_id="d4", rank=1, score=1.0)

    call_command(
        "import",
        collection=collection.name,
        ir_dataset=["stones/judged"],
        with_qrels=True,
        with_passages=True,
        quiet=True,
    )

    brought = collection.passages.filter(title__startswith="Stone ").order_by("passage_id")
    assert list(brought.values_list("passage_id", "text")) == [
        ("d0", "Passage 0."),
        ("d1", "Passage 1."),
        ("d4", "Passage 4."),
    ]
    assert Rater.objects.get(name="stones-judged").judgments.count() == 2


@pytest.mark.usefixtures("_package")
def test_they_are_looked_at_and_kept_on_the_page(as_rosa: Client, collection: Collection) -> None:
    address = f"/collections/{collection.name}/import/"
    asked = {"file_format": "ir_datasets", "ir_datasets": "stones/judged", "with_qrels": "on", "with_passages": "on"}

    preview = as_rosa.post(address, asked)["Location"]
    waiting = as_rosa.get(preview)
    work()
    shown = as_rosa.get(preview)
    untouched = Topic.objects.filter(topic_id="q1").exists()
    as_rosa.post(preview, {"name-0": "NIST", "people": ["stones-judged.qrels"]})
    work()

    assertContains(waiting, "A worker is processing it")
    assertContains(shown, "<h1>stones/judged</h1>")
    assertContains(shown, "Rater of stones-judged.qrels")
    assert not untouched
    assert Rater.objects.get(name="NIST").judgments.count() == 2
    assert collection.passages.filter(text="Passage 0.").exists()


@pytest.mark.usefixtures("_package")
def test_they_are_posted(as_rosa: Client, collection: Collection) -> None:
    address = f"/api/v1/collections/{collection.name}/files/"

    response = as_rosa.post(address, {"ir_dataset": ["stones/judged"], "with_qrels": "true", "without_texts": "true"})
    work()

    state = as_rosa.get(f"/api/v1/uploads/{response.json()['id']}/").json()
    assert response.status_code == 202
    assert state["state"] == "imported"
    assert {file["name"]: file["waits"] for file in state["outcome"]["details"]["files"]} == {
        "stones-judged.topics.jsonl": "",
        "stones-judged.qrels": "",
    }
    assert Topic.objects.filter(topic_id__in=["q1", "q2"]).count() == 2


@pytest.mark.usefixtures("_package")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"ir_datasets": "pebbles"}, "There is no dataset “pebbles”. The ids are listed at https://ir-datasets.com."),
        ({"ir_datasets": "stones"}, "The dataset has no topics."),
        ({"ir_datasets": "far"}, "The dataset could not be read: no route to host."),
    ],
)
def test_what_cannot_be_had_is_said_and_nothing_comes_in(
    as_rosa: Client, collection: Collection, asked: dict[str, str], said: str
) -> None:
    preview = as_rosa.post(f"/collections/{collection.name}/import/", {"file_format": "ir_datasets"} | asked)
    work()

    shown = as_rosa.get(preview["Location"]).content.decode()

    assert all(part in shown for part in said.split(". ")), shown
    assert not Topic.objects.filter(topic_id="q1").exists()


@pytest.mark.usefixtures("_no_package")
def test_a_site_without_the_package_says_what_to_install(as_rosa: Client, rosa: User, collection: Collection) -> None:
    with pytest.raises(CommandError, match=r"ir_datasets is not installed here. .* pip install ir_datasets"):
        call_command("import", collection=collection.name, ir_dataset=["stones/judged"], quiet=True)
    preview = as_rosa.post(
        f"/collections/{collection.name}/import/", {"file_format": "ir_datasets", "ir_datasets": "stones/judged"}
    )
    work()

    assertContains(as_rosa.get(preview["Location"]), "pip install ir_datasets")


@pytest.mark.parametrize("fields", [{}, {"ir_datasets": " , "}, {"ir_datasets": "x" * 201}])
def test_a_form_without_an_id_is_asked_for_again(
    as_rosa: Client, collection: Collection, fields: dict[str, str]
) -> None:
    response = as_rosa.post(f"/collections/{collection.name}/import/", {"file_format": "ir_datasets"} | fields)

    assert response.status_code == 422
    assert not Upload.objects.exists()


def test_neither_files_nor_datasets_are_refused(as_rosa: Client, rosa: User, collection: Collection) -> None:
    response = as_rosa.post(f"/api/v1/collections/{collection.name}/files/", {})

    assert response.status_code == 400
    with pytest.raises(CommandError, match="Give files, or datasets"):
        call_command("import", collection=collection.name, quiet=True)
