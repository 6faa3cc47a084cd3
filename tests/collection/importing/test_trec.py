"""Runs, qrels and passages by id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from collection.models import Collection, Criterion, Item, Judgment, Passage, RankedPassage, Rater, Study
from tests.collection.files import everything, jsonl, refused, run_command


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "bridges.qrels"
    path.write_text("t0 0 t0-p0 3\nt0 0 t0-p1 0\r\n\nt1 0 t1-p0 1\n")
    return path


def test_a_run_is_ranked_by_its_own_ranks_and_scores(tmp_path: Path, collection: Collection) -> None:
    path = tmp_path / "bm25.run"
    path.write_text("t0 Q0 t0-p1 1 9.5 bm25\nt0 Q0 web#8_4 2 -1e-3 bm25\nt1 Q0 t1-p0 1 2 bm25\n")

    call_command("import_run", str(path), "--collection", "bridges", "--system", "anserini")

    ranking = RankedPassage.objects.filter(run__name="bm25", run__system__name="anserini", topic__topic_id="t0")
    assert list(ranking.order_by("rank").values_list("passage_id", "rank", "score")) == [
        ("t0-p1", 1, 9.5),
        ("web#8_4", 2, -0.001),
    ]


def test_a_run_twice_changes_nothing(
    tmp_path: Path, collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bm25.run"
    path.write_text("t0 Q0 t0-p1 1 9.5 bm25\n")
    call_command("import_run", str(path), "--collection", "bridges")
    before = everything()

    told = run_command(capsys, "import_run", path, "--collection", "bridges")

    assert "nothing changed" in told
    assert everything() == before


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("t9 Q0 p 2 1 bm25", "1 topic is not in the collection: “t9”"),
        ("t0 Q0 p 2 1 other", "The tag is “other”"),
        ("t0 Q0 t0-p1 2 1 bm25", "already there with another rank"),
        ("t0 Q0 p 2 1", "5 columns"),
    ],
)
def test_a_broken_run_is_refused_whole(tmp_path: Path, collection: Collection, line: str, reason: str) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(f"t0 Q0 t0-p1 1 9.5 bm25\n{line}\n")
    before = everything()

    message = refused("import_run", path, "--collection", "bridges")

    assert "line 2: " in message or "(line 2)" in message
    assert reason in message
    assert everything() == before


def test_qrels_become_one_raters_judgments_of_relevance(qrels: Path, study: Study) -> None:
    call_command("import_qrels", str(qrels), "--study", study.name, "--rater", "nist")

    rater = Rater.objects.get(name="nist")
    assert (rater.kind, rater.origin, rater.source) == ("assessor", "imported", "bridges.qrels")
    criterion = Criterion.objects.get(name="relevance")
    assert (criterion.scale.values, criterion.threshold) == ([0, 1, 2, 3], 1)
    judgments = Judgment.objects.filter(rater=rater, criterion=criterion)
    assert list(judgments.order_by("id").values_list("item__item_id", "grade")) == [
        ("relevance/t0/t0-p0", 3),
        ("relevance/t0/t0-p1", 0),
        ("relevance/t1/t1-p0", 1),
    ]
    assert Item.objects.get(item_id="relevance/t0/t0-p0").element is None


def test_qrels_twice_change_nothing(qrels: Path, study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_qrels", str(qrels), "--study", study.name, "--rater", "nist")
    before = everything()

    told = run_command(capsys, "import_qrels", qrels, "--study", study.name, "--rater", "nist")

    assert "nothing changed" in told
    assert everything() == before


def test_qrels_may_bring_passages_by_their_id_alone(tmp_path: Path, study: Study) -> None:
    path = tmp_path / "web.qrels"
    path.write_text("t0 0 msmarco_v2.1_doc_39_175110992#8_358415440 1\n")

    message = refused("import_qrels", path, "--study", study.name, "--rater", "nist")
    call_command("import_qrels", str(path), "--study", study.name, "--rater", "nist", "--without-texts")

    assert "1 passage is not in the collection: “msmarco_v2.1_doc_39_175110992#8_358415440” (line 1)." in message
    assert Passage.objects.get(passage_id__startswith="msmarco").text is None
    assert Judgment.objects.get().grade == 1


def test_qrels_may_make_their_study(qrels: Path, collection: Collection) -> None:
    call_command("import_qrels", str(qrels), "--study", "nist-study", "--collection", "bridges", "--rater", "nist")

    study = Study.objects.get()
    assert (study.name, study.state, study.overlap) == ("nist-study", "closed", 1)
    assert Judgment.objects.of_study(study).count() == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("t0 0 t0-p1 4", "4 is not a grade of “relevance”"),
        ("t0 0 t0-p0 2", "already judged"),
        ("t9 0 t0-p0 2", "1 topic is not in the collection: “t9”"),
        ("t0 0 t0-p0", "3 columns, not 4"),
        ("t0 0 t0-p0 x", "not a number"),
    ],
)
def test_broken_qrels_are_refused_whole(qrels: Path, study: Study, line: str, reason: str) -> None:
    qrels.write_text(f"{qrels.read_text()}{line}\n")
    before = everything()

    message = refused("import_qrels", qrels, "--study", study.name, "--rater", "nist")

    assert "line 5: " in message or "(line 5)" in message
    assert reason in message
    assert everything() == before


def test_another_scale_may_be_told(tmp_path: Path, study: Study) -> None:
    path = tmp_path / "binary.qrels"
    path.write_text("t0 0 t0-p0 -2\n")
    arguments = ["--study", study.name, "--rater", "nist", "--scale=-2,0,1", "--criterion", "binary"]

    call_command("import_qrels", str(path), *arguments)

    assert Criterion.objects.get(name="binary").scale.values == [-2, 0, 1]
    assert Judgment.objects.get().grade == -2


def test_passages_come_in_by_their_id(tmp_path: Path, collection: Collection) -> None:
    file = jsonl(tmp_path / "p.jsonl", {"id": "a#1", "contents": "Text.", "url": "u"}, {"docid": 7, "text": "Other."})

    call_command("import_passages", str(file), "--collection", "bridges")

    assert Passage.objects.get(passage_id="a#1").attributes == {"url": "u"}
    assert Passage.objects.get(passage_id="7").text == "Other."


def test_qrels_need_few_queries(tmp_path: Path, study: Study, django_assert_max_num_queries: Any) -> None:
    Passage.objects.bulk_create(
        Passage(collection=study.collection, passage_id=f"d{n}", text="x", text_sha256="x") for n in range(1_000)
    )
    path = tmp_path / "many.qrels"
    path.write_text("".join(f"t0 0 d{n} {n % 4}\n" for n in range(1_000)))

    with django_assert_max_num_queries(80):
        call_command("import_qrels", str(path), "--study", study.name, "--rater", "nist")

    assert Judgment.objects.count() == 1_000
