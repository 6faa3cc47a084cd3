"""Every pipeline that writes reports, and every track: what is built here can be handed in."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils.timezone import now

from collection.formats.cited_reports.tracks import TRACKS
from collection.models import Collection, Passage, RankedPassage, Run, System, User
from judging.building.additions.addition import add_to_collection
from judging.building.review import decide, products_to_review
from judging.building.shipped import PIPELINES
from judging.engines import GradeRequest
from tests.collection.files import run_command
from tests.collection.formats.test_cited_reports import MARCO, NEWS, SHARDS
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db

WRITING = [name for name, pipeline in PIPELINES.items() if pipeline.makes == "report"]
# How many citations their reports have here.
CITING = {"report-passages": 3, "rifer": 2, "eifrp": 2}
DOCUMENTS = {"rag24": MARCO, "rag25": MARCO, "rag26": SHARDS, "ragtime26": NEWS, "dragun25": MARCO, "shared": NEWS}
TEXTS = ("Bridges sway.", "Paint keeps rust away.")


def writer(request: GradeRequest) -> str:
    """A fact of each document, which no other says; of passages, a sentence that cites each."""
    prompt = request.prompt
    if "List the key facts" in prompt:
        return next((text for text in TEXTS if text in prompt), "None.")
    if "Does the document state the fact" in prompt:
        return "No."
    if "Rank these" in prompt:
        return '{"order": [2, 1]}'
    if inside := re.search(r"without the parts.*\[begin \w+\]\n(.*)\n\[end", prompt, re.DOTALL):
        return inside[1]
    if second := re.search(r"Second sentence: (.*)", prompt):
        return second[1]
    return "Bridges sway. [1]\nPaint keeps rust away. [2] [1]"


def built(collection: Collection, pipeline: str, documents: list[str], rosa: User, *, text: str = "") -> Run:
    """A run with what the pipeline writes on a topic from these documents; `text`: as a person edited it."""
    system = System.objects.create(collection=collection, name="ranker")
    ranked = Run.objects.create(collection=collection, system=system, name="ranked")
    topic = collection.topics.get(topic_id="t0")
    for rank, (docno, said) in enumerate(zip(documents, TEXTS, strict=False), start=1):
        Passage(collection=collection, passage_id=docno, text=said).save()
        RankedPassage.objects.create(run=ranked, topic=topic, passage_id=docno, rank=rank, score=-rank)
    build = finish(a_build(collection, pipeline, by=rosa, documents="ranked", topics=("t0",)), Scripted(writer))
    products = [one.pk for one in products_to_review(build)]
    edit: dict[str, Any] = {"text": text} if text else {}
    decide(build, products, "edited" if text else "accepted", by=rosa, at=now(), **edit)
    add_to_collection(build, run="mine", by=rosa, at=now())
    return Run.objects.get(name="mine")


@pytest.mark.parametrize("documents", [MARCO, SHARDS, NEWS], ids=["MS MARCO", "ClimbMix", "news"])
@pytest.mark.parametrize("pipeline", WRITING)
def test_what_a_pipeline_writes_passes_the_check_of_each_track(
    pipeline: str, documents: list[str], collection: Collection, rosa: User, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    run = built(collection, pipeline, documents, rosa)
    file = tmp_path / "mine.jsonl"
    of = ("--collection", collection.name, "--team", "arch", "--run-desc", "plain", "--run", "mine")

    for track in (track for track, taken in DOCUMENTS.items() if taken is documents):
        file.write_text(run_command(capsys, "export reports", *of, "--track", track))
        call_command("import check", file, track=track, stdout=StringIO())

        [line] = map(json.loads, file.read_text().splitlines())
        form = TRACKS[track].form
        written = line[form.sentences]
        assert [one["text"] for one in written] == [one.text for one in run.reports.get().sentences.all()]
        assert sum(len(one["citations"]) for one in written) == CITING.get(pipeline, 0)
        assert line.get("metadata", line)[form.topic] == "t0"
        assert "generated" not in line.get("metadata", line)


def test_each_track_is_tried() -> None:
    assert DOCUMENTS.keys() == TRACKS.keys()


@pytest.mark.parametrize(
    ("track", "said"),
    [
        ("rag24", "“d1” is not an id of the track's documents. Such a file cites the track's own documents"),
        ("rag26", "“d1” is not an id of the track's documents."),
        ("ragtime26", "“d1” is not an id of the track's documents."),
        ("dragun25", "“d1” is not an id of the track's documents."),
    ],
)
def test_what_cites_other_documents_is_refused(track: str, said: str, collection: Collection, rosa: User) -> None:
    built(collection, "report-passages", ["d1", "d2"], rosa)

    with pytest.raises(CommandError) as refused:
        call_command(
            "export reports", collection=collection.name, track=track, team="arch", run_desc="plain", run=["mine"]
        )

    lines = str(refused.value).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"Run “mine”, topic “t0”: {said}")


def test_a_run_that_a_person_edited_is_manual(
    collection: Collection, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    built(collection, "report-passages", MARCO, rosa, text="Bridges sway. Nothing rusts.")

    out = run_command(
        capsys, "export reports", "--collection", collection.name, "--track", "rag25", "--team", "arch", "--run", "mine"
    )

    line = json.loads(out)
    metadata = {"run_id": "mine", "narrative_id": "t0", "narrative": "Report on subject 0."}
    assert line["metadata"] == {**metadata, "team_id": "arch", "type": "manual"}
    assert [one["citations"] for one in line["answer"]] == [[0], [1, 0]]
