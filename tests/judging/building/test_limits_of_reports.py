"""What a report may read, say and cite: its context’s tokens, its own length, and the citations of a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from collection.models import Collection, Passage, RankedPassage, Run, System, User
from judging.building.cited_replies import cited_text
from judging.building.forms import BuildForm
from judging.building.progress import lines, steps_of
from judging.building.shipped import PIPELINES
from judging.building.sources import CannotBuild
from judging.engines import GradeRequest
from stats.measures.words import WHITESPACE, WORDS
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db


@pytest.fixture
def five(collection: Collection) -> Collection:
    """The run five ranks d1 to d5 for t0: a title of one word and a text of four."""
    run = Run.objects.create(
        collection=collection, system=System.objects.create(collection=collection, name="five"), name="five"
    )
    topic = collection.topics.get(topic_id="t0")
    for rank in range(1, 6):
        docno, text = f"d{rank}", f"Old bridges stand. Ok{rank}."
        Passage.objects.create(collection=collection, passage_id=docno, title="Care", text=text)
        RankedPassage.objects.create(run=run, topic=topic, passage_id=docno, rank=rank, score=-rank)
    return collection


def test_a_context_ends_before_the_passage_that_goes_over_its_limit(five: Collection, rosa: User) -> None:
    pipeline = PIPELINES["report-passages"]
    engine = Scripted(lambda _: "They stand [4]. And [2].")
    options = replace(pipeline.defaults, context_tokens=17)  # three passages of 5 are 15, four are 20

    build = finish(a_build(five, "report-passages", by=rosa, documents="five", topics=("t0",), options=options), engine)

    prompt, call = engine.asked[0].prompt, build.calls.get()
    assert "[3] Care: Old bridges stand. Ok3." in prompt
    assert "Ok4" not in prompt
    assert [(one["kind"], one["detail"]) for one in call.faults] == [
        ("context_cut", "15 tokens of at most 17 without d4, d5"),
        ("no_such_passage", "[4] of 3"),
    ]
    assert [one["citations"] for one in build.products.get().data["sentences"]] == [[], ["d2"]]
    assert "     passages over the context’s limit of tokens, left out of the prompt: 1" in list(lines(build))


def test_a_context_without_room_for_its_first_passage_leaves_the_topic_out(five: Collection) -> None:
    options = replace(PIPELINES["report-passages"].defaults, context_tokens=4)

    with pytest.raises(CannotBuild, match="no passage within the context’s limit of tokens"):
        a_build(five, "report-passages", documents="five", topics=("t0",), options=options)


@pytest.mark.parametrize(
    ("pipeline", "sent", "limit"),
    [
        ("report-passages", {}, 2500),
        ("report-passages", {"context_tokens": "0"}, 0),
        ("clapnq-answers", {}, 0),
        ("clapnq-answers", {"context_tokens": "512"}, 512),
    ],
)
def test_the_usual_context_is_the_papers(pipeline: str, sent: dict[str, str], limit: int) -> None:
    form = BuildForm(sent)

    assert form.is_valid()
    assert form.request(pipeline, {}).options.context_tokens == limit


def test_the_page_says_what_was_left_out_of_a_context(five: Collection, rosa: User, client: Client) -> None:
    client.force_login(rosa)
    start = reverse("judging:build_new", args=[five.name, "report-passages"])
    assert 'name="context_tokens" value="2500"' in client.get(start).content.decode()
    sent = {"engine": "embedded", "documents": "five", "topics": "t0", "context_tokens": "10", "start": "1"}

    page = client.post(start, sent)

    build = five.builds.get()
    assert page.status_code == 302
    assert (build.options["context_tokens"], build.options["tokenizer"]) == (10, "whitespace")
    finish(build, Scripted(lambda _: "They stand [1]."))
    calls = reverse("judging:build_calls", args=[five.name, build.pk, "report"])
    assert "10 tokens of at most 10 without d3, d4, d5" in client.get(calls).content.decode()


def test_a_report_is_cut_by_the_tokenizer_that_was_chosen(five: Collection) -> None:
    text = "Well-kept bridges stand."

    assert [WORDS.cut(text, n) for n in (1, 2, 3, 4)] == ["Well", "Well-kept", "Well-kept bridges", text[:-1] + "."]
    assert [WHITESPACE.cut(text, n) for n in (1, 2, 3)] == ["Well-kept", "Well-kept bridges", text]
    options = replace(PIPELINES["report-direct"].defaults, words=3, tokenizer="words")
    build = finish(a_build(five, "report-direct", topics=("t0",), options=options), Scripted(lambda _: text))
    assert build.products.get().text == "Well-kept bridges"
    assert build.calls.get().faults == [{"kind": "cut", "detail": "4 words of at most 3"}]


def test_a_sentence_keeps_the_citations_ranked_first() -> None:
    found = cited_text("So it is. [4] [1] [3] [2]", ["a", "b", "c", "d"], most_words=9, most_citations=3)

    assert found.rows[0].data["sentences"][0]["citations"] == ["a", "c", "b"]
    assert [(one.kind, one.detail) for one in found.faults] == [("too_many_citations", "sentence 1: d")]


def _seen_everywhere(request: GradeRequest) -> str:
    if "List the key facts" in request.prompt:
        return "Bridges stand." if "Ok1" in request.prompt else "None"
    return "Old bridges stand." if "Does the document state the fact" in request.prompt else "Yes"


@pytest.mark.parametrize(("most", "cited", "dropped"), [(3, 3, 2), (5, 5, 0), (1, 1, 4)])
def test_rifers_sentences_cite_as_many_documents_as_they_may(
    five: Collection, most: int, cited: int, dropped: int
) -> None:
    options = replace(PIPELINES["rifer"].defaults, most_citations=most)
    build = finish(
        a_build(five, "rifer", documents="five", topics=("t0",), options=options), Scripted(_seen_everywhere)
    )

    sentence = build.products.get(step="report").data["sentences"][0]
    report = steps_of(build)[-1]
    assert sentence["citations"] == ["d1", "d2", "d3", "d4", "d5"][:cited]
    assert sentence["history"]["citations"] == ["d1", "d2", "d3", "d4", "d5"]
    assert report.faults.get("too_many_citations", 0) == dropped
    assert report.faulty == 0  # nobody was asked for it
