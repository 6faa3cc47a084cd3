"""CRUX whole: from documents and summaries to qrels and a leaderboard, with every number worked by hand.

Of topic a the passage a0 answers When (5) and What (3) and a1 answers What (4); nothing answers Who. Of topic b the
passages b0, b1 and b2 answer one question each, and b3 none.
"""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils.timezone import now

from annotate.frames.frame import Frame
from annotate.studies.design import StudyDesign
from annotate.studies.layout import lay_out_tasks
from annotate.studies.lifecycle import make_study, open_study
from collection.importing.files import FilesOptions, import_files
from collection.models import Collection, Masking, Passage, RubricElement, Study, User
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from evaluation.publishing.making import line_of
from judging.building.additions.addition import add_to_collection
from judging.building.pipelines import Options
from judging.building.review import decide, products_to_review
from judging.engines import GradeRequest, Reply
from judging.models import Build
from stats.ranking.measure_names import parse_measure
from tests.judging.building.world import Scripted, a_build, finish
from tests.judging.world import ScriptedEngine, a_job, work_through

pytestmark = pytest.mark.django_db

RUN = "documents-passages"
WRITTEN = {
    "Doc A one": ("The dam was built in 1901 of stone.", "Stone is what it is made of."),
    "Doc A two": ("The dam holds a lake.", "Fish live there."),
    "Doc B one": ("It opened in May.", "It is all wood."),
    "Doc B two": ("Ada Smith planned it.", "Gulls sit on it."),
}
GRADES = {
    ("When?", "The dam was built in 1901 of stone."): 5,
    ("What of?", "The dam was built in 1901 of stone."): 3,
    ("What of?", "Stone is what it is made of."): 4,
    ("When?", "It opened in May."): 3,
    ("What of?", "It is all wood."): 3,
    ("Who?", "Ada Smith planned it."): 5,
}
ANSWERED = {("a", "When?"), ("b", "When?"), ("b", "What of?"), ("b", "Who?")}


def _built(
    collection: Collection, rosa: User, pipeline: str, script: Scripted, *, run: str = "", **asked: Any
) -> Build:
    sent = {"summaries": "human_summary", "documents": "documents"} | asked
    build = finish(a_build(collection, pipeline, by=rosa, **sent), script)
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())
    add_to_collection(build, run=run, by=rosa, at=now())
    return build


def _written(request: GradeRequest) -> str:
    return "".join(f"<p>{text}</p>" for text in next(said for doc, said in WRITTEN.items() if doc in request.prompt))


def _grader(study: Study) -> ScriptedEngine:
    """Read what to reply before the job begins: the engine's thread sees no table of this test."""
    said = {}
    for item in study.items.select_related("element", "passage", "topic"):
        asked = item.element.text if item.element else ""
        of_passage = item.passage and GRADES.get((asked, item.passage.text or ""), 0)
        said[item.pk] = int((item.topic.topic_id, asked) in ANSWERED) if of_passage is None else of_passage
    return ScriptedEngine(lambda request: Reply(str(said[request.item_id]), finish_reason="stop"))


def test_crux_goes_from_documents_to_qrels_and_a_leaderboard(rosa: User, tmp_path: Path) -> None:
    news = Collection.objects.create(name="news", title="News", owner=rosa)
    lines = [
        {"id": "a", "documents": ["Doc A one", "Doc A two"], "summary": "A stone dam since 1901."},
        {"id": "b", "documents": ["Doc B one", "Doc B two"], "summary": "A wooden pier by Ada Smith."},
    ]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    files = [("news.jsonl", tmp_path / "news.jsonl")]
    import_files(files=files, collection=news, options=FilesOptions(), at=now())

    _built(news, rosa, "crux-requests", Scripted(lambda _: "Please report on it.</r>"))
    _built(news, rosa, "crux-passages", Scripted(_written))
    questions = "<q>When?</q><q>What of?</q><q>Who?</q>"
    _built(news, rosa, "crux-questions", Scripted(lambda _: questions), options=Options(count=3))
    assert set(news.topics.values_list("request", flat=True)) == {"Please report on it."}
    names = {text: name for name, text in Passage.objects.filter(collection=news).values_list("passage_id", "text")}
    a0, a1, a2, a3, b0, b1, b2, b3 = (names[text] for said in WRITTEN.values() for text in said)

    study = make_study(
        StudyDesign(
            collection=news,
            name="crux",
            task_types=["answerability", "rating"],
            frame=Frame(runs="except", run_names=("documents",)),
        ),
        by=rosa,
        at=now(),
    )
    open_study(study=study, at=now())
    assert study.items.filter(task_type="rating").count() == 2 * 4 * 3
    judge = work_through(a_job(study, "rating"), _grader(study)).judge
    source = judge.rater.name
    call_command("mask", study="crux", source=source, run=RUN, by="rosa", stdout=StringIO())
    masked = RubricElement.objects.filter(topic__collection=news, masked=True)
    assert [(one.topic.topic_id, one.text) for one in masked] == [("a", "Who?")]
    assert Masking.objects.count() == 1

    qrels = tmp_path / "news.qrels"
    call_command("redundancy", study="crux", source=source, run=RUN, others=True, keep_as="oracle", out=qrels)

    found = {(line.split()[0], line.split()[2]): int(line.split()[3]) for line in qrels.read_text().splitlines()}
    assert {key: grade for key, grade in found.items() if grade} == {
        ("a", a0): 3, ("a", a1): 2, ("a", a2): 2, ("a", a3): 2,
        ("b", b0): 3, ("b", b1): 3, ("b", b2): 3, ("b", b3): 1,
    }  # fmt: skip
    assert {key for key, grade in found.items() if not grade} == {
        *(("a", one) for one in (b0, b1, b2, b3)), *(("b", one) for one in (a0, a1, a2, a3)),
    }  # fmt: skip
    assert Scorer.of(study).rankings["oracle"] == {"a": [a0], "b": [b0, b1, b2]}

    texts = {"dam": "It stands since 1901. [1]", "pier": "Since May it is wooden. [1]"}
    script = Scripted(lambda request: texts["dam" if "The dam" in request.prompt else "pier"])
    _built(news, rosa, "report-passages", script, documents="oracle", run="from-oracle")
    lay_out_tasks(study=study, at=now())
    of_oracle = study.items.filter(report__run__name="from-oracle")
    assert (of_oracle.filter(topic__topic_id="a").count(), of_oracle.filter(topic__topic_id="b").count()) == (2, 3)
    reports = work_through(a_job(study, "answerability"), _grader(study)).judge
    board = measure_leaderboard(
        Scorer.of(study, oracle="oracle"), parse_measure("coverage"), sources=[reports.rater.name]
    )
    scores = board.columns[0].board.scored.table.at
    assert (scores["from-oracle", "a"], scores["from-oracle", "b"]) == (
        0.5,
        1.0,
    )  # 1 of 2, since Who? is masked; 3 of 3

    line = line_of(study)
    assert {one.pipeline for one in line.builds} >= {"crux-passages", "crux-questions", "report-passages"}
    provenance = tmp_path / "provenance.json"
    output = tmp_path / "rating.qrels"
    call_command("export_qrels", study="crux", criterion="rating", rater=[source], out=output, provenance=provenance)
    assert "crux-questions" in provenance.read_text()
    assert "crux-passages" in provenance.read_text()
