"""Topics in each of their forms, and from the ids of runs and qrels."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from collection.formats.jsonl import TopicLine
from collection.formats.problems import BrokenFile, InputFile
from collection.formats.topics import read_topics
from collection.importing.trec import import_topics
from collection.models import Collection, Topic
from tests.collection.files import refused

TREC = """<top>
<num> Number: 451
<title> What is a Bengals cat?

<desc> Description:
Provide information on the Bengal
cat breed.

<narr> Narrative:
Item should include any information.
</top>
<top><num>452</num><title>do beavers live in salt water?</title></top>
"""


def topics(tmp_path: Path, content: str) -> list[TopicLine]:
    path = tmp_path / "topics"
    path.write_text(content)
    with InputFile(path) as file:
        return [line for _, line in read_topics(file)]


def test_trecs_topics_have_their_description_as_the_request(tmp_path: Path) -> None:
    assert topics(tmp_path, TREC) == [
        TopicLine(
            "451",
            "Provide information on the Bengal cat breed.",
            "What is a Bengals cat?",
            {"narrative": "Item should include any information."},
        ),
        TopicLine("452", "do beavers live in salt water?", "do beavers live in salt water?"),
    ]


def test_a_second_number_in_one_topic_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BrokenFile) as refused:
        topics(tmp_path, "<top>\n<num> 1\n<title> ice\n</top>\n<top\nlang='en'>\n<num> 2\n<title> tea\n</top>\n")

    assert [problem.line for problem in refused.value.problems] == [7]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("q1\twhy do bridges sing\r\nq2\tمن بنى الجسر؟\n", [("q1", "why do bridges sing"), ("q2", "من بنى الجسر؟")]),
        ("qid\tquery\n7\twho\n", [("7", "who")]),
        ('{"qid": 7, "query": "who", "split": "dev"}\n', [("7", "who")]),
        ('{"request_id": "r1", "title": "Bridges", "problem_statement": "Which?"}\n', [("r1", "Which?")]),
        ('{"id": "a", "title": "Only a title"}\n', [("a", "Only a title")]),
    ],
)
def test_reads_columns_and_objects(tmp_path: Path, content: str, expected: list[tuple[str, str]]) -> None:
    assert [(line.topic_id, line.request) for line in topics(tmp_path, content)] == expected


def test_keeps_what_has_no_place(tmp_path: Path) -> None:
    (line,) = topics(tmp_path, '{"qid": "7", "query": "who", "title": "Who", "split": "dev"}\n')

    assert (line.title, line.attributes) == ("Who", {"split": "dev"})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("only one column\n", "line 1: This is not a topic. Topics are JSON"),
        ("q1\ta\nq2\n", "line 2: The line has 1 column, not an id and a request."),
        ("q1\ta\tb\n", "line 1: The line has 3 columns"),
        ('{"query": "who"}\n', "line 1: There is no field “topic_id”. One of these is needed: topic_id, qid"),
        ('{"qid": "1"}\n', "line 1: There is no field “request”."),
        ("<top>\n<num> 1\n</top>\n", "line 1: The topic 1 has no title and no description"),
    ],
)
def test_says_what_is_wrong(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(BrokenFile) as broken:
        topics(tmp_path, content)

    assert said in str(broken.value)


def test_a_topic_that_is_only_an_id_gets_its_request_and_no_other_changes(
    tmp_path: Path, collection: Collection
) -> None:
    Topic.objects.create(collection=collection, topic_id="bare", request="")
    path = tmp_path / "topics.tsv"
    path.write_text("bare\tWho built it?\n")

    imported = import_topics(file=InputFile(path), collection=collection)

    assert imported.counts() == [("topics", 1, 0)]
    assert Topic.objects.get(topic_id="bare").request == "Who built it?"
    path.write_text("bare\tWho pulled it down?\n")
    with pytest.raises(BrokenFile, match="already there with another request"):
        import_topics(file=InputFile(path), collection=collection)


def test_topics_that_a_run_lacks_are_named_once(tmp_path: Path, collection: Collection) -> None:
    path = tmp_path / "bm25.run"
    path.write_text("".join(f"q{n} Q0 p{rank} {rank} 1 bm25\n" for n in range(7) for rank in (1, 2)))

    message = refused("import_run", path, "--collection", collection.name)

    assert (
        "7 topics are not in the collection: “q0” (line 1), “q1” (line 3), “q2” (line 5), “q3” (line 7), "
        "“q4” (line 9), …." in message
    )
    assert message.count("“q0”") == 1


def test_topics_are_made_from_the_ids_of_a_run(tmp_path: Path, collection: Collection) -> None:
    path = tmp_path / "bm25.run"
    path.write_text("q7 Q0 p1 1 1 bm25\nq7 Q0 p2 2 1 bm25\nt0 Q0 p1 1 1 bm25\n")

    call_command("import", str(path), "--collection", collection.name, "--with-topics", "--quiet")

    assert list(Topic.objects.filter(topic_id="q7").values_list("request", flat=True)) == [""]
