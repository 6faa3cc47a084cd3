"""A judge served over reports: its grades in a folder, and the same files from the stored replies with no network."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.core.management import CommandError, call_command

from collection.formats.problems import InputFile
from collection.formats.scores.evaluation_files import read_evaluation
from collection.formats.trec import read_qrels
from collection.models import Collection, Criterion, Item, Judgment, Study, User
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES
from collection.questions.wordings import in_language
from judging.judges.registry import make_judge
from judging.models import Completion, Judge
from tests.judging.world import a_lexical_judge, criterion_of

pytestmark = pytest.mark.django_db
FILES = ["evaluation.txt", "grades.jsonl", "grades.qrels", "judge.json", "replies.jsonl"]


@pytest.fixture
def judge(judged_study: Study) -> Judge:
    return a_lexical_judge(criterion_of(judged_study))


@pytest.fixture
def served(judge: Judge, judged_study: Study, tmp_path: Path) -> Path:
    call_command("serve_judge", judge.name, collection=judged_study.collection.name, out=tmp_path / "served")
    return tmp_path / "served"


def objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_folder_holds_a_grade_of_every_report_and_sub_question(served: Path, judge: Judge) -> None:
    grades = objects(served / "grades.jsonl")

    stored = {judgment.item.item_id: judgment.grade for judgment in Judgment.objects.select_related("item")}
    assert sorted(path.name for path in served.iterdir()) == FILES
    assert len(grades) == Item.objects.filter(study__name__endswith="-served").count() > 0
    for grade in grades:
        item = f"{judge.task_type}/{grade['topic_id']}/{grade['run_id']}/{grade['element_id']}"
        assert grade["grade"] == stored[item]
    assert json.loads((served / "judge.json").read_text())["sha256"] == judge.content_hash


def test_its_evaluation_and_qrels_follow_from_the_grades(served: Path) -> None:
    grades = objects(served / "grades.jsonl")
    by_topic: dict[str, list[float]] = {}
    for grade in grades:
        by_topic.setdefault(grade["topic_id"], []).append(grade["grade"])

    rows = {row.topic: row.value for row in read_evaluation(InputFile(served / "evaluation.txt"), form="tot")}
    qrels = {line.topic_id: line.grade for _, line in read_qrels(InputFile(served / "grades.qrels"))}

    means = {topic: sum(found) / len(found) for topic, found in by_topic.items()}
    assert rows == pytest.approx({**means, "all": sum(means.values()) / len(means)})
    assert qrels == {topic: max(found) for topic, found in by_topic.items()}


def test_a_replay_gives_identical_files_and_connects_to_nothing(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[Any] = []

    def refuse(*args: Any, **_: Any) -> NoReturn:
        connections.append(args)
        raise OSError("The network is off.")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    Completion.objects.all().delete()

    call_command("serve_judge", replay=served, out=tmp_path / "again")

    assert connections == []
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (served / name).read_bytes()


def test_serving_again_asks_nobody_and_writes_the_same(served: Path, judge: Judge, tmp_path: Path) -> None:
    asked = Completion.objects.count()

    name = Collection.objects.get().name
    call_command("serve_judge", judge.name, collection=name, out=tmp_path / "again")

    assert Completion.objects.count() == asked
    assert (tmp_path / "again" / "replies.jsonl").read_bytes() == (served / "replies.jsonl").read_bytes()


def test_judges_of_other_languages_are_served_beside_one_another(served: Path, judge: Judge, tmp_path: Path) -> None:
    [shape] = TASK_TYPES[judge.task_type].criteria
    words = in_language(shape, TaskType(judge.task_type), "de")
    scale = words.scale.stored()
    german, _ = make_judge(
        engine=judge.engine, task_type=judge.task_type, criterion_name=judge.criterion_name, scale=scale
    )
    collection = Collection.objects.get().name

    for one in (german, judge, german):
        call_command("serve_judge", one.name, collection=collection, out=tmp_path / one.content_hash)

    of_scales = Criterion.objects.filter(study__attributes__imported_from="serve_judge").values_list(
        "scale", "question"
    )
    asked = {judge.scale_id: shape.question, german.scale_id: words.question}
    assert sorted(of_scales) == sorted(asked.items())
    assert json.loads((tmp_path / german.content_hash / "judge.json").read_text())["scale"] == scale.points
    assert (tmp_path / judge.content_hash / "replies.jsonl").read_bytes() == (served / "replies.jsonl").read_bytes()


def test_a_reply_without_a_grade_is_counted_and_is_no_zero(
    served: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *rest = objects(served / "replies.jsonl")
    first["reply"]["text"] = "perhaps"
    (served / "replies.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (first, *rest)))

    call_command("serve_judge", replay=served, out=tmp_path / "again")

    said, *_ = objects(tmp_path / "again" / "grades.jsonl")
    assert (said["grade"], said["ungraded"]) == (None, "unreadable")
    assert "1 replies without one" in capsys.readouterr().out


@pytest.mark.parametrize("stands", [True, False])
def test_a_replay_that_fails_changes_nothing(served: Path, tmp_path: Path, stands: bool) -> None:
    out = tmp_path / "again"
    if stands:
        call_command("serve_judge", replay=served, out=out)
    before = [(path, path.read_bytes()) for path in sorted(out.glob("*"))]
    with (served / "replies.jsonl").open("a") as replies:
        replies.write("not a reply\n")

    with pytest.raises(CommandError, match=r"replies\.jsonl"):
        call_command("serve_judge", replay=served, out=out)

    assert [(path, path.read_bytes()) for path in sorted(out.glob("*"))] == before
    assert {path.name for path in tmp_path.iterdir()} == {"served", *(["again"] if stands else [])}


def test_a_folder_of_reports_becomes_a_collection(rosa: User, judge: Judge, tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    lines = [
        {"type": "topic", "topic_id": "t9", "request": "How?"},
        {
            "type": "rubric_element",
            "topic_id": "t9",
            "kind": "sub_question",
            "element_id": "1",
            "text": "Who inspects?",
        },
    ]
    report = {
        "metadata": {"team_id": "a", "run_id": "arch", "topic_id": "t9"},
        "references": [],
        "responses": [{"text": "An engineer inspects.", "citations": []}],
    }
    (folder / "topics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "arch.jsonl").write_text(json.dumps(report) + "\n")

    call_command("serve_judge", judge.name, collection="new", owner="rosa", reports=folder, out=tmp_path / "out")

    (grade,) = objects(tmp_path / "out" / "grades.jsonl")
    assert (grade["run_id"], grade["topic_id"], grade["element_id"]) == ("arch", "t9", "1")
    assert grade["grade"] is not None


def test_a_site_that_has_nothing_has_the_shipped_judges(rosa: User, tmp_path: Path) -> None:
    line = {"type": "topic", "topic_id": "t9", "request": "How?"}
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "topics.jsonl").write_text(json.dumps(line) + "\n")
    options = {"collection": "new", "owner": "rosa", "reports": tmp_path / "reports", "out": tmp_path / "out"}
    assert not Judge.objects.exists()

    with pytest.raises(CommandError, match="no report"):
        call_command("serve_judge", "lexical-report-rating", **options)

    assert Judge.objects.filter(name="lexical-report-rating").exists()


def test_a_site_that_is_not_set_up_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("django.db.connection.introspection.table_names", list)

    with pytest.raises(CommandError, match="set_up first"):
        call_command("serve_judge", "lexical-report-rating", collection="new", out=tmp_path)


def test_what_cannot_be_served_is_refused(judge: Judge, judged_study: Study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    of_passages = a_lexical_judge(criterion_of(judged_study, "rating"))
    name = judged_study.collection.name

    for positional, options, said in (
        ([], {}, "Name a judge"),
        ([of_passages.name], {"collection": name}, "does not grade reports"),
        ([judge.name], {"replay": tmp_path}, "takes its folder and --out alone"),
        ([], {"replay": out}, "into another folder"),
        ([], {"replay": tmp_path}, "has no judge.json"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("serve_judge", *positional, out=out, **options)
