"""The figure of texts: how many there are and how long they are, by each tokenizer."""

from __future__ import annotations

import pytest
from django.test import Client

from collection.models import Collection, Passage, Report, RubricElement, Run, Study, System, Topic, User
from evaluation.figures.figure import NoFigure
from evaluation.figures.studies import draw_figure
from stats.measures.text_lengths import TextLengths, text_lengths

pytestmark = pytest.mark.django_db
PAGE = "/studies/small/figures/"


@pytest.fixture
def small(rosa: User) -> Study:
    """Two topics, one without sub-questions, three passages of two documents, and a report of each of two runs."""
    collection = Collection.objects.create(name="small", owner=rosa)
    one, _ = (
        Topic.objects.create(collection=collection, topic_id=name, request=request)
        for name, request in (("t1", "Why do bridges fall?"), ("t2", "Why?"))
    )
    for position, (text, masked) in enumerate((("Which fell?", False), ("When did it fall?", False), ("Why?", True))):
        RubricElement.objects.create(
            topic=one, kind="sub_question", element_id=f"q{position}", position=position, text=text, masked=masked
        )
    passages: list[tuple[str, str, str | None, dict[str, int]]] = [
        ("d1#0", "d1", "One two three.", {"llama": 5}),
        ("d1#1", "d1", "One, two.", {"llama": 3}),
        ("d2#0", "d2", None, {"llama": 9}),
    ]
    for name, document, said, counts in passages:
        Passage.objects.create(
            collection=collection, passage_id=name, document_id=document, text=said, attributes={"token_counts": counts}
        )
    system = System.objects.create(collection=collection, name="system")
    for name, said in (("brief", "Wind."), ("long", "The wind of the storm.")):
        run = Run.objects.create(collection=collection, system=system, name=name)
        Report.objects.create(run=run, topic=one, text=said)
    return Study.objects.create(collection=collection, name="small", title="Small", created_by=rosa)


def test_lengths_are_their_mean_and_quantiles() -> None:
    assert text_lengths([10, 20, 30]) == TextLengths(3, 20, 10, 11, 20, 29, 30, 60)
    assert text_lengths([]) == TextLengths(0)


def test_texts_are_counted_in_the_tokenizer_s_words(small: Study) -> None:
    found = {row[0]: dict(zip(draw_figure(small, "texts").head, row, strict=True)) for row in _rows(small, "words")}

    assert {name: (one["there"], one["counted"], one["mean"]) for name, one in found.items()} == {
        "requests": (2, 2, 2.5),
        "sub-questions": (2, 2, 3),
        "passages": (3, 2, 2.5),
        "documents": (2, 1, 5),
        "reports": (2, 2, 3),
        "reports of brief": (1, 1, 1),
        "reports of long": (1, 1, 5),
    }
    assert (found["sub-questions"]["per_topic"], found["sub-questions"]["masked"]) == (2, 1)


def test_stored_counts_are_a_tokenizer_and_count_texts_that_are_not_held(small: Study) -> None:
    found = {row[0]: row for row in _rows(small, "llama")}

    assert found["passages"][4:6] == [3, pytest.approx(17 / 3)]
    assert found["documents"][4:6] == [2, 8.5]
    assert found["requests"][4:6] == [0, None]


def test_a_tokenizer_that_nobody_has_is_refused(small: Study) -> None:
    with pytest.raises(NoFigure, match="no unit of lengths “gpt”"):
        draw_figure(small, "texts", unit="gpt")


def test_a_study_without_judgments_shows_its_texts_on_a_page(client: Client, small: Study, rosa: User) -> None:
    client.force_login(rosa)

    listed = client.get(PAGE).content.decode()
    page = client.get(f"{PAGE}texts/", {"unit": "words"})

    assert "Nothing to draw yet" in listed
    assert "Topics and texts in numbers" in listed
    assert "2 requests (2 words on average), 2 sub-questions (3 words on average)" in page.content.decode()
    assert client.get(f"{PAGE}texts/figure.svg").content.startswith(b"<svg")
    assert (
        client.get("/api/v1/studies/small/figures/texts/", {"unit": "words"}).json() == page.context["result"].as_dict()
    )


def _rows(study: Study, unit: str) -> list[list[object]]:
    return [list(row) for row in draw_figure(study, "texts", unit=unit).rows]
