"""RIFER and EIFRP by hand: which sentences leave, who is cited, what becomes of each fact."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Collection, Passage, RankedPassage, Report, Run, User
from judging.building.additions.addition import add_to_collection
from judging.building.builds import go_on
from judging.building.estimate import estimate
from judging.building.key_facts.gathering import (
    confidence,
    fact_lines,
    inferring_sentence,
    ranked,
    relevant_part,
    smoothed,
    without,
)
from judging.building.progress import steps_of
from judging.building.reply_parsing import Row
from judging.building.review import decide, products_to_review
from judging.building.shipped import PIPELINES
from judging.engines import GradeRequest, Reply
from judging.models import Build
from tests.judging.building.world import Scripted, a_build, finish

# Three documents about cats. The second says the first fact in other words; the third says both of the first's.
TEXTS = {
    "d1": "Cats purr. Cats sleep all day. The end.",
    "d2": "A purr is what cats do. They eat fish. Bye.",
    "d3": "All cats purr a lot. Sleep takes their day. Dogs bark.",
}
EXTRACTED = {
    "Cats purr. Cats sleep all day. The end.": "1. Cats purr.\n2. Cats sleep all day.\nNote: nothing else.",
    "They eat fish. Bye.": "Cats eat fish.",
    "Sleep takes their day. Dogs bark.": "There are no other key facts.",
}
INFERRED = {
    ("Cats purr.", "d2"): "“A purr is what cats do.”",
    ("Cats sleep all day.", "d2"): "Cats sleep.",  # does not stand there
    ("Cats purr.", "d3"): "All cats purr a lot.",
    ("Cats sleep all day.", "d3"): "Sleep takes their day.",
    ("Cats eat fish.", "d3"): "No.",
}
SURE = {"A purr is what cats do.": "Yes.", "All cats purr a lot.": "yes", "Sleep takes their day.": "No"}


def writer(request: GradeRequest) -> str:
    """Reply by hand; what nobody foresaw is an error."""
    prompt = request.prompt
    inside = re.search(r"\[begin \w+\]\n(.*)\n\[end", prompt, re.DOTALL)
    assert inside
    if "List the key facts" in prompt:
        return EXTRACTED[inside[1]]
    if "Does the document state the fact" in prompt:
        fact = re.findall(r"Fact: (.*)", prompt)[0]
        return INFERRED[fact, next(name for name, text in TEXTS.items() if text == inside[1])]
    if "Are you confident" in prompt:
        return SURE[re.findall(r"Sentence: (.*)", prompt)[0]]
    if "without the parts" in prompt:
        return {"Cats sleep all day.": "None\nNote: off the point.", "Cats purr.": "Cats purr."}.get(inside[1], "Fish.")
    if "Rank these" in prompt:
        return '{"order": [2, 1]}'
    first, second = re.findall(r"(?:First|Second) sentence: (.*)", prompt)
    return f"[{first[:6]}] {second}"


@pytest.fixture
def cats(collection: Collection) -> Collection:
    run = Run.objects.get(collection=collection, name="alpha-1")
    topic = collection.topics.order_by("pk")[0]
    for rank, (name, text) in enumerate(TEXTS.items(), start=1):
        Passage(collection=collection, passage_id=name, text=text).save()
        RankedPassage.objects.create(run=run, topic=topic, passage_id=name, rank=rank, score=-rank)
    return collection


def made(build: Build, rosa: User) -> Report:
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())
    add_to_collection(build, run="cats", by=rosa, at=now())
    return Report.objects.get(run__name="cats")


def cited(report: Report) -> list[tuple[str, list[str]]]:
    return [(one.text, [c.passage_id for c in one.citations.all()]) for one in report.sentences.all()]


@pytest.mark.django_db
def test_rifer_by_hand(cats: Collection, rosa: User) -> None:
    engine = Scripted(writer)
    build = finish(a_build(cats, "rifer", by=rosa), engine)

    facts, smoothing, report = steps_of(build)
    product = build.products.get(step="report")

    # 3 documents, 2 + 3 facts looked for, 3 sentences that stand there, 2 of 3 sentences smoothed
    assert (facts.total, smoothing.total, report.total) == (3 + 5 + 3, 2, 0)
    assert facts.faults == {"uninformative": 2, "not_verbatim": 1}
    assert cited(made(build, rosa)) == [
        ("Cats purr.", ["d1", "d2", "d3"]),
        ("[Cats p] Cats sleep all day.", ["d1"]),
        ("[[Cats ] Cats eat fish.", ["d2"]),
    ]
    histories = [one["history"] for one in product.data["sentences"]]
    assert histories[0]["inferred"] == [
        {"docno": "d2", "rank": 2, "sentence": "A purr is what cats do."},
        {"docno": "d3", "rank": 3, "sentence": "All cats purr a lot."},
    ]
    assert (histories[2]["fact"], histories[2]["smoothed"]) == ("Cats eat fish.", "[[Cats ] Cats eat fish.")


@pytest.mark.django_db
def test_a_fact_that_a_person_edited_makes_the_run_a_manual_one(cats: Collection, rosa: User) -> None:
    build = finish(a_build(cats, "rifer", by=rosa, reviews_steps=True), Scripted(writer))
    first, *others = build.products.filter(step="facts").values_list("pk", flat=True)
    decide(build, [first], "edited", text="Cats do purr.", by=rosa, at=now())
    decide(build, others, "accepted", by=rosa, at=now())
    for _ in ("smoothing", "report"):
        go_on(build, at=now())
        finish(build, Scripted(writer))
        decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())

    add_to_collection(build, run="cats", by=rosa, at=now())

    report = Report.objects.get(run__name="cats")
    assert report.attributes["generated"]["review"] == "accepted"
    assert report.attributes["metadata"]["type"] == "manual"


@pytest.mark.django_db
def test_eifrp_by_hand(cats: Collection, rosa: User) -> None:
    build = finish(a_build(cats, "eifrp", by=rosa), Scripted(writer))

    assert [step.total for step in steps_of(build)] == [11, 3, 1, 1, 0]
    assert cited(made(build, rosa)) == [("Fish.", ["d2"]), ("[Fish.] Cats purr.", ["d1", "d2", "d3"])]


@pytest.mark.django_db
def test_the_history_of_each_fact_is_read_on_a_page(client: Client, cats: Collection, rosa: User, ada: User) -> None:
    build = finish(a_build(cats, "eifrp", by=rosa), Scripted(writer))
    other = finish(a_build(cats, "rubric-questions", by=rosa), Scripted(lambda _: "{}"))
    page = reverse("judging:build_facts", args=[cats.name, build.pk])
    client.force_login(rosa)

    text = " ".join(client.get(page).content.decode().split())

    assert page in client.get(reverse("judging:build", args=[cats.name, build.pk])).content.decode()
    for said in (
        f'<a href="{reverse("collection:collection", args=[cats.name])}">{cats}</a>',
        "1. Cats purr.", "says it, is cited, and the sentence left the document: “A purr is what cats do.”",
        "what the model named does not stand there: “Cats sleep.”", "so it is not cited: “Sleep takes their day.”",
        "Left out: nothing of it is relevant", "[Fish.] Cats purr.", "Sentence 2 of the report", "rank 1",
    ):  # fmt: skip
        assert said in text, said
    assert client.get(reverse("judging:build_facts", args=[cats.name, other.pk])).status_code == 404
    client.force_login(ada)
    assert client.get(page).status_code == 404


@pytest.mark.django_db
def test_a_topic_whose_document_got_no_reply_makes_no_report(cats: Collection) -> None:
    def failing(request: GradeRequest) -> Reply | str:
        broken = "They eat fish" in request.prompt and "List the key facts" in request.prompt
        return Reply(ungraded="engine_error", error="away") if broken else writer(request)

    build = finish(a_build(cats, "rifer"), Scripted(failing))

    assert steps_of(build)[0].faults == {"uninformative": 1, "not_verbatim": 1, "engine_error": 1}
    assert not build.products.filter(step="report").exists()


@pytest.mark.django_db
def test_calls_are_bounded_before_the_start(cats: Collection) -> None:
    options = PIPELINES["eifrp"].defaults
    build = a_build(cats, "eifrp", options=options)

    found = estimate(build)

    # three documents with ten facts at most: 10 + 20 known before documents 2 and 3; 2·30 + 3 + F + 1 + 19
    assert [one.most_calls for one in found.steps] == [63, 30, 1, 19, 0]
    assert not found.unknown


@pytest.mark.parametrize(
    ("reply", "facts", "faults"),
    [
        ("None", [], []),
        ("None.", [], []),
        ("", [], ["unreadable"]),
        ("- One is.\n* Two is.\n\n3) Three is.", ["One is.", "Two is.", "Three is."], []),
        ("Here are the facts:\nOne is.\none is.\nKnown.", ["One is."], ["uninformative", "repeated", "repeated"]),
        ("None of this helps\n---\nNote: no.\nThere is no other fact.", ["None of this helps"], ["uninformative"] * 3),
        ("a\nb\nc\nd", ["a", "b", "c"], ["too_many"]),
    ],
)
def test_what_is_no_fact_is_left_out_and_listed(reply: str, facts: list[str], faults: list[str]) -> None:
    found = fact_lines(reply, known=["Known."], most=3)

    assert ([row.text for row in found.rows], [fault.kind for fault in found.faults]) == (facts, faults)


@pytest.mark.parametrize(
    ("reply", "sentence", "faults"),
    [
        ("No dog barks.", ["No dog barks."], []),
        ('"No dog barks."', ["No dog barks."], []),
        ("No", [], []),
        ("No, it does not say so.", [], []),
        ("A dog barks.", [], ["not_verbatim"]),
        ("dog bar", [], ["not_verbatim"]),
        ("", [], ["unreadable"]),
    ],
)
def test_only_a_sentence_that_stands_there_infers(reply: str, sentence: list[str], faults: list[str]) -> None:
    found = inferring_sentence(reply, "It is night. No dog barks. No.")

    assert ([row.text for row in found.rows], [fault.kind for fault in found.faults]) == (sentence, faults)


def test_sentences_leave_a_text_once() -> None:
    assert without(["B.", "B.", "Z."], "A. B. C. B.") == "A. C. B."
    assert without(["A."], "A. B.") == "B."


def test_confidence_is_yes_or_no() -> None:
    assert [bool(confidence(said, "S.").rows) for said in ("Yes.", "no", "Perhaps")] == [True, False, False]
    assert [one.kind for one in confidence("Perhaps", "S.").faults] == ["unreadable"]


FACTS = (Row("Ones."), Row("Two"), Row("Three"))


@pytest.mark.parametrize(
    ("order", "texts", "complete"),
    [
        ([3, 1, 2], ["Three", "Ones.", "Two"], True),
        (["three", "ones", "2"], ["Three", "Ones.", "Two"], True),
        ([3, 3, 1], ["Three", "Ones.", "Two"], False),
        ([9, "Two"], ["Two", "Ones.", "Three"], False),
        ([True, {}, [1]], ["Ones.", "Two", "Three"], False),
        (None, ["Ones.", "Two", "Three"], False),
        ([1, 2, 3, 4], ["Ones.", "Two", "Three"], False),
    ],
)
def test_an_order_that_is_no_permutation_says_so(order: list[object] | None, texts: list[str], complete: bool) -> None:
    found = ranked(order, FACTS)

    assert ([row.text for row in found.rows], not found.faults) == (texts, complete)


def test_a_sentence_without_a_reply_stays_as_it_was() -> None:
    assert smoothed('"It\npurrs."', Row("x")).rows[0].text == "It purrs."
    assert (smoothed(" ", Row("x")).rows[0].text, len(smoothed(" ", Row("x")).faults)) == ("x", 1)
    assert relevant_part("None. It is off the point.", Row("x")).rows == ()
