"""Summaries with their documents, as in Multi-News: topics, a run of summaries and one of documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils.timezone import now

from collection.formats.problems import BrokenFile
from collection.importing.files import FilesOptions, import_files
from collection.importing.outcomes import ImportOutcome
from collection.models import Collection, Passage, RankedPassage, Report, Topic, User

pytestmark = pytest.mark.django_db

Bring = Callable[..., ImportOutcome]
TWO: list[dict[str, Any]] = [
    {"document": "One\nline. ||||| Another. |||||", "summary": "Both."},
    {"id": 7, "context": ["First.", "", "Second.</s>"], "summary": "Two.", "query": "What is there?", "year": 2004},
]


@pytest.fixture
def brought(rosa: User, tmp_path: Path) -> Bring:
    collection = Collection.objects.create(name="empty", owner=rosa)

    def bring(*lines: dict[str, Any], name: str = "news.jsonl") -> ImportOutcome:
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return import_files(files=[(name, tmp_path / name)], collection=collection, options=FilesOptions(), at=now())

    return bring


def test_a_line_is_a_topic_with_its_summary_and_its_documents(brought: Bring) -> None:
    outcome = brought(*TWO)

    assert outcome.details["files"][0]["format"] == "summaries"
    assert list(Topic.objects.values_list("topic_id", "request", "attributes")) == [
        ("news-0", "", {}), ("7", "What is there?", {"year": 2004}),
    ]  # fmt: skip
    assert list(Report.objects.order_by("pk").values_list("run__name", "text")) == [
        ("human_summary", "Both."), ("human_summary", "Two."),
    ]  # fmt: skip
    assert list(Passage.objects.order_by("pk").values_list("passage_id", "text")) == [
        ("news-0:0", "One\nline."), ("news-0:1", "Another."), ("7:0", "First."), ("7:1", "Second.</s>"),
    ]  # fmt: skip
    ranked = RankedPassage.objects.filter(run__name="documents").order_by("pk")
    assert list(ranked.values_list("topic__topic_id", "passage_id", "rank")) == [
        ("news-0", "news-0:0", 1), ("news-0", "news-0:1", 2), ("7", "7:0", 1), ("7", "7:1", 2),
    ]  # fmt: skip
    assert outcome.flaws == ["1 × empty documents, left out: 1 of “7”"]


def test_a_second_time_nothing_changes_not_even_a_request_that_was_written_since(brought: Bring) -> None:
    brought(*TWO)
    Topic.objects.filter(topic_id="news-0").update(request="Please write.", attributes={"generated": {"call": 1}})

    again = brought(*TWO)

    assert not again.changed
    assert Topic.objects.get(topic_id="news-0").request == "Please write."


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"document": " ||||| ", "summary": "S."}, "There is no document."),
        ({"document": ["a", 3], "summary": "S."}, "A document is 3, not a text."),
        ({"document": "a", "summary": " "}, "“summary” is empty"),
        ({"document": "a"}, "not a summary with its documents"),
        ({"id": 7, "document": "a", "summary": "S."}, "The topic “7” is there twice."),
    ],
)
def test_a_broken_line_refuses_the_file_and_says_which(brought: Bring, line: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenFile, match=reason) as broken:
        brought(*TWO, line)

    assert "line 3" in str(broken.value)
    assert not Topic.objects.exists()


def test_a_single_document_is_listed(brought: Bring) -> None:
    assert brought({"documents": "a", "summary": "S."}).flaws == [
        "1 × topics with one document, which CRUX leaves out: “news-0”"
    ]
