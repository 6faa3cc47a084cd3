"""The frame by page, API and command: the same choices, the same refusals."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from annotate.frames.frame import Frame, frame_of
from annotate.studies.frame_forms import FrameForm
from annotate.studies.frames import change_frame
from annotate.studies.lifecycle import open_study
from annotate.studies.task_counts import texts_of
from annotate.task_types.texts import pool_of
from collection.models import Collection, Passage, RankedPassage, Run, Study, Topic, User
from collection.models.studies import TaskType
from tests.annotate.factories import NOON
from tests.evaluation.judged import judge_items
from tests.factories import a_judge_rater, a_study, an_item, rater_of

pytestmark = pytest.mark.django_db


def by_api(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def ranked(run: Run, topic: Topic, *docnos: str) -> None:
    for rank, docno in enumerate(docnos, start=1):
        RankedPassage.objects.create(run=run, topic=topic, passage_id=docno, rank=rank, score=100 - rank)


# --- The page -------------------------------------------------------------------------------------


def test_the_page_saves_a_frame_and_says_what_it_asks(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)
    sent = {"frame-topics": "drawn", "frame-n_topics": "1", "frame-seed": "s"}

    saved = client.post(f"/studies/{study.name}/frame/", sent, follow=True)

    study.refresh_from_db()
    assert study.frame == {"topics": "drawn", "n_topics": 1, "seed": "s"}
    assert "Topics: 1 drawn at random; seed s." in saved.content.decode()


def test_the_page_says_what_is_wrong_beside_the_choice(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    refused = client.post(f"/studies/{study.name}/frame/", {"frame-topics": "chosen", "frame-topic_ids": "t0, zz"})

    assert refused.status_code == 422
    assert "The collection has no topic “zz”." in refused.content.decode()
    assert Study.objects.get(pk=study.pk).frame == {}


def test_a_stranger_finds_neither_page(client: Client, study: Study, mallory: User) -> None:
    client.force_login(mallory)

    assert client.get(f"/studies/{study.name}/frame/").status_code == 404
    assert client.get("/studies/frame/", {"collection": study.collection.name}).status_code == 404


def test_makes_no_study_of_a_frame_that_cannot_be(client: Client, collection: Collection, rosa: User) -> None:
    client.force_login(rosa)
    sent = {"collection": "bridges", "title": "New", "task_types": "answerability", "overlap": 1, "depth": 5}

    refused = client.post("/studies/new/", sent | {"frame-topics": "drawn"})

    assert refused.status_code == 422
    assert "Enter how many topics are drawn." in refused.content.decode()
    assert not Study.objects.filter(title="New").exists()


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("true: 40\nfalse: 10", ({"true": 40, "false": 10}, False)),
        ("true = 80 %\nfalse: 20%", ({"true": 80, "false": 20}, True)),
        ("a: b: 3", ({"a: b": 3}, False)),
    ],
)
def test_reads_numbers_and_shares(collection: Collection, typed: str, read: tuple[dict[str, float], bool]) -> None:
    form = FrameForm({"frame-numbers": typed}, collection=collection)

    assert form.is_valid()
    assert form.cleaned_data["numbers"] == read


@pytest.mark.parametrize("typed", ["true", "true: many", "true: 1\nfalse: 2 %", "true: 1\ntrue: 2", "true: -1"])
def test_refuses_numbers_that_are_none(collection: Collection, typed: str) -> None:
    assert "numbers" in FrameForm({"frame-numbers": typed}, collection=collection).errors


def test_the_form_shows_the_stored_frame_again(collection: Collection, study: Study) -> None:
    frame = Frame(topics="drawn", n_topics=2, runs="only", run_names=("alpha-1",), topic_ids=("t0",), seed="s")
    shown = FrameForm(collection=collection, frame=frame)
    values = {f"frame-{name}": shown[name].value() or "" for name in shown.fields if name != "only_complete"}

    again = FrameForm(values, collection=collection)

    assert again.is_valid(), again.errors
    assert again.frame == frame


# --- API and command --------------------------------------------------------------------------------


def test_the_api_makes_and_changes_a_frame(collection: Collection, rosa: User) -> None:
    client = by_api(rosa)
    address = "/api/v1/studies/framed/"
    new = {"collection": "bridges", "name": "framed", "task_types": ["answerability"]}
    drawn: dict[str, object] = {"topics": "drawn", "n_topics": 1, "seed": "s"}

    made = client.post("/api/v1/studies/", new | {"frame": drawn}, format="json")
    changed = client.patch(address, {"frame": {"topics": "chosen", "topic_ids": ["t1"]}}, format="json")
    refused = client.patch(address, {"frame": {"topic": "chosen"}}, format="json")
    unknown = client.patch(address, {"frame": {"runs": "only", "run_names": ["x"]}}, format="json")

    assert made.json()["frame"] == drawn
    assert changed.json()["frame"] == {"topics": "chosen", "topic_ids": ["t1"]}
    assert refused.status_code == unknown.status_code == 400
    assert unknown.json() == {"frame": "The collection has no run “x”."}


def test_the_command_reads_a_frame_from_a_file(study: Study, tmp_path: Path) -> None:
    file, said = tmp_path / "frame.json", StringIO()
    file.write_text(json.dumps({"topics": "chosen", "topic_ids": ["t0"]}))
    study.criteria.exclude(task_type="answerability").delete()

    call_command("edit_study", study=study.name, frame=file, stdout=said)

    study.refresh_from_db()
    assert study.frame == {"topics": "chosen", "topic_ids": ["t0"]}
    assert "answerability of a report: 1 task" in said.getvalue()
    file.write_text('{"topics": "some"}')
    with pytest.raises(CommandError, match="topics"):
        call_command("edit_study", study=study.name, frame=file)


# --- Passages ---------------------------------------------------------------------------------------


@pytest.fixture
def rated(collection: Collection) -> Study:
    """Two runs that rank both passages of each topic the other way round; people's ratings of the first topic's."""
    beta = Run.objects.create(collection=collection, system=collection.systems.all()[0], name="beta")
    for topic in collection.topics.all():
        ranked(collection.runs.get(name="alpha-1"), topic, f"{topic.topic_id}-p0", f"{topic.topic_id}-p1")
        ranked(beta, topic, f"{topic.topic_id}-p1", f"{topic.topic_id}-p0")
    return a_study(collection, name="rated", task_types=["rating"], depth=1)


def pool(study: Study, **frame: object) -> set[str]:
    study.frame = Frame(**frame).as_dict()  # type: ignore[arg-type]
    return {pooled.passage_id for pooled in pool_of(study)}


def test_asks_about_the_passages_that_the_frame_names(rated: Study) -> None:
    assert pool(rated) == {"t0-p0", "t0-p1", "t1-p0", "t1-p1"}
    assert pool(rated, runs="only", run_names=("beta",)) == {"t0-p1", "t1-p1"}
    assert pool(rated, passages="run", passages_of="beta") == {"t0-p1", "t1-p1"}
    assert pool(rated, passages="context", passages_of="beta") == {"t0-p0", "t0-p1", "t1-p0", "t1-p1"}
    rated.frame = Frame(topics="chosen", topic_ids=("t1",)).as_dict()
    assert {text.topic_id for text in texts_of(rated, TaskType.RATING)} == {"t1"}


def test_asks_about_the_passages_that_grades_choose(rated: Study, ada: User, ben: User) -> None:
    collection = rated.collection
    grades = a_study(collection, name="grades", task_types=["rating"])
    criterion, topic = grades.criteria.get(), collection.topics.get(topic_id="t0")
    elements = list(topic.rubric_elements.filter(kind="sub_question").order_by("position"))
    # What p0 answers (the first question) p1 answers too; Ben alone finds that p0 answers the second.
    judge = a_judge_rater(collection)
    given: dict[str, list[float]] = {"t0-p0": [5, 1, 0], "t0-p1": [4, 3, 0]}
    for name, row in given.items():
        passage = Passage.objects.get(passage_id=name)
        for element, grade in zip(elements, row, strict=True):
            item = an_item(grades, "rating", topic=topic, element=element, text=passage)
            judge_items(criterion, rater_of(ada), [item], [grade])
            judge_items(criterion, rater_of(ben), [item], [5 if (name, grade) == ("t0-p0", 1) else grade])
            judge_items(criterion, judge, [item], [0])
    by_people = {"grades_of": "grades/rating"}

    assert pool(rated, passages="relevant", **by_people) == {"t0-p0", "t0-p1"}
    assert pool(rated, passages="relevant", least_grade=5, **by_people) == {"t0-p0"}
    assert pool(rated, passages="required", **by_people) == {"t0-p1"}
    assert pool(rated, passages="relevant", grades_by="judge", **by_people) == set()


def test_a_copy_and_a_reopened_study_keep_the_frame(study: Study, rosa: User) -> None:
    study.criteria.exclude(task_type="answerability").delete()
    change_frame(study=study, frame=Frame(topics="drawn", n_topics=1))
    open_study(study=study, at=NOON)

    call_command("copy_study", study=study.name, title="Again", by="rosa", stdout=StringIO())

    copy = Study.objects.get(title="Again")
    assert frame_of(copy) == frame_of(study)
    open_study(study=copy, at=NOON)
    assert set(copy.tasks.values_list("topic", flat=True)) == set(study.tasks.values_list("topic", flat=True))
