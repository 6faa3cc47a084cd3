"""Reports that a model wrote: several prompts in a step, steps that ask nobody, and runs of what was accepted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.exporting.cited_reports import exported_cited_reports
from collection.formats.cited_reports import parse_cited_report
from collection.formats.cited_reports.tracks import TRACKS, broken_rules
from collection.models import Collection, Report, Run, User
from judging.building.additions.addition import add_to_collection
from judging.building.additions.reports import placed_sentences
from judging.building.builds import do_again
from judging.building.cited_replies import cited_text
from judging.building.estimate import estimate
from judging.building.pipelines import Ask, Key, Pipeline, Slot, Step, View
from judging.building.progress import steps_of
from judging.building.prompt_files import StepPrompt
from judging.building.reply_parsing import Parsed, Row
from judging.building.review import decide, products_to_review
from judging.building.shipped import PIPELINES
from judging.building.sources import CannotBuild
from judging.models import Build
from tests.judging.building.world import Scripted, a_build, finish, with_ranking

pytestmark = pytest.mark.django_db


def _ask(view: View) -> list[Ask]:
    asked = [Ask({"ask": "write"}, {"request": view.topic.request})]
    if done := view.of(ask="write"):
        asked.append(Ask({"ask": "check"}, {"text": done.rows[0].text}, prompt="check"))
    return asked


def _read(reply: str, key: Key, _: View) -> Parsed:
    return Parsed((Row(f"{reply} {key['ask']}."),))


def _put_together(view: View) -> list[Ask]:
    said = [{"text": row.text, "citations": [f"d{n}"]} for n, row in enumerate(view.before)]
    text = "\n".join(row.text for row in view.before)
    return [Ask({}, {}, given=Parsed((Row(text, {"sentences": said, "calls": len(view.earlier)}),)))]


TWO_PROMPTS = Pipeline(
    "two-prompts", "Two prompts", "",
    (
        Step(
            "write", "Sentences", ("request",), "sentence", "rubric-questions", frozenset({"request", "count"}), _ask,
            _read, most_calls=lambda _: {"": 1, "check": 1},
            others={"check": Slot("Checks", "crux-passages", frozenset({"text"}))},
        ),
        Step(
            "report", "Report", (), "report", "", frozenset(), _put_together, _read, reads_calls=True,
            most_calls=lambda _: 0,
        ),
    ),
)  # fmt: skip
MINE = {
    "write": StepPrompt("mine", 1, "Write about {request}."),
    "write/check": StepPrompt("sure", 2, "Is it so: {text}?"),
}


@pytest.fixture
def build(collection: Collection, rosa: User, monkeypatch: pytest.MonkeyPatch) -> Build:
    monkeypatch.setattr("judging.building.drafts.PIPELINES", {"two-prompts": TWO_PROMPTS, **PIPELINES})
    monkeypatch.setattr("judging.building.calls.PIPELINES", {"two-prompts": TWO_PROMPTS})
    return a_build(collection, "two-prompts", by=rosa, prompts=MINE)


def accepted(build: Build, rosa: User) -> Build:
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())
    return build


def test_a_step_asks_with_several_prompts_and_what_is_given_asks_nobody(build: Build, rosa: User) -> None:
    engine = Scripted(lambda request: "Yes" if "Is it so" in request.prompt else "Well")
    finish(build, engine)
    accepted(build, rosa)

    first = build.products.filter(step="report").order_by("topic_id")[0]

    assert len(engine.asked) == 4
    assert (first.text, first.data["calls"]) == ("Well write.\nYes check.", 2)
    written, report = steps_of(build)
    assert (written.total, {slot: prompt["name"] for slot, prompt in written.prompts.items()}) == (
        4,
        {"write": "mine", "write/check": "sure"},
    )
    assert (report.total, report.products.total, report.prompts) == (0, 2, {})
    assert set(build.calls.filter(step="write").values_list("key__ask", "kind")) == {("write", ""), ("check", "check")}
    assert [one.most_calls for one in estimate(build).steps] == [4, 0]
    do_again(build, step="write", kind="check", prompt=StepPrompt("surer", 3, "Really: {text}?"), at=now())
    finish(build, engine)
    assert build.prompts["write/check"]["name"] == "surer"
    assert len(engine.asked) == 6  # what was written is kept, what checks it is asked anew
    with pytest.raises(CannotBuild, match="no prompt “write/other”"):
        do_again(build, step="write", kind="other", prompt=MINE["write"], at=now())


def test_reports_become_a_run_with_citations_that_no_other_build_may_take(build: Build, rosa: User) -> None:
    finish(build, Scripted(lambda _: "Well"))
    edited = products_to_review(accepted(build, rosa))[1]
    decide(build, [edited.pk], "edited", text="Well write.\nChecked by hand. Twice.", by=rosa, at=now())

    added = add_to_collection(build, run="mine", by=rosa, at=now())

    run = Run.objects.get(name="mine")
    report, other = Report.objects.filter(run=run).order_by("topic_id")
    assert (added.new, added.known, added.into, run.system.name) == (2, 0, run, "mine")
    cited = [(one.text, [c.passage_id for c in one.citations.all()], one.splitter) for one in report.sentences.all()]
    assert cited == [("Well write.", ["d0"], ""), ("Well check.", ["d1"], "")]
    edits = [(one.text, [c.passage_id for c in one.citations.all()], one.splitter) for one in other.sentences.all()]
    assert edits == [
        ("Well write.", ["d0"], ""), ("Checked by hand.", ["d1"], "assize-1"), ("Twice.", ["d1"], "assize-1"),
    ]  # fmt: skip
    making = report.attributes["generated"]
    assert (making["prompt"], making["prompt_version"], making["answered_by"]) == ("mine, sure", "1, 2", "scripted")
    written = [json.loads(line) for line in exported_cited_reports(build.collection)]
    assert [line["answer"][1]["citations"] for line in written] == [[1], [1]]
    assert written[0]["metadata"]["generated"] == parse_cited_report(written[0]).attributes["generated"] == making
    assert written[0].keys() == {"metadata", "references", "answer"}
    broken = {rule for line in written for rule in broken_rules(parse_cited_report(line), TRACKS["rag26"])}
    # What only those know who hand it in; and these documents are not the track's.
    lacking = {f"The metadata have no {name}." for name in ("team_id", "narrative", "run_desc")}
    assert {rule for rule in broken if "is not an id" not in rule} == lacking
    with pytest.raises(CannotBuild, match="Nothing is accepted"):
        add_to_collection(build, run="mine", by=rosa, at=now())
    another = accepted(finish(a_build(build.collection, "two-prompts", prompts=MINE), Scripted(lambda _: "So")), rosa)
    for name, why in (("mine", "a run “mine” already"), ("alpha", "a system “alpha” already"), ("a b", "white space")):
        with pytest.raises(CannotBuild, match=why):
            add_to_collection(another, run=name, by=rosa, at=now())


@pytest.mark.parametrize(
    ("text", "sentences", "found"),
    [
        ("One. Two.", ["One.", "Two."], [(0, 4, ("0",)), (5, 9, ("1",))]),
        ("One. New. Two.", ["One.", "Two."], [(0, 4, ("0",)), (5, 9, ()), (10, 14, ("1",))]),
        ("New. Two.", ["One.", "Two."], [(0, 4, ("0",)), (5, 9, ("1",))]),
        ("Two.", ["One.", "Two."], [(0, 4, ("1",))]),
        ("", ["One."], []),
    ],
)
def test_sentences_are_found_where_they_stand(text: str, sentences: list[str], found: list[Any]) -> None:
    said = [{"text": one, "citations": [str(number)]} for number, one in enumerate(sentences)]

    assert [(one.start, one.end, one.citations) for one in placed_sentences(text, said)] == found


def test_each_prompt_of_a_step_is_replaced_on_the_page(client: Client, build: Build, rosa: User) -> None:
    client.force_login(rosa)
    finish(build, Scripted(lambda _: "Well"))
    again = reverse("judging:build_again", args=[build.collection.name, build.pk])
    file = SimpleUploadedFile("mine.toml", b'name = "surest"\ntext = "Sure? {text}"')

    page = client.get(reverse("judging:build", args=[build.collection.name, build.pk])).content.decode()
    client.post(again, {"step": "write", "kind": "check", "prompt": file})

    build.refresh_from_db()
    assert '<option value="check">Checks</option>' in page
    assert build.prompts["write/check"]["name"] == "surest"
    assert build.prompts["write"]["name"] == "mine"


# --- Reports to compare with ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "text", "cited", "faults"),
    [
        ("One is. [1] Two is [2][3].", "One is. Two is.", [["a"], ["b", "c"]], []),
        ("[2] One is. Two is [1, 1].", "One is. Two is.", [["b"], ["a"]], []),
        ("One is [4].\n\nTwo is [1; 0].", "One is.\n\nTwo is.", [[], ["a"]], ["no_such_passage"] * 2),
        ("In [2015] it was.", "In [2015] it was.", [[]], []),
        ("One is not. Two is three four five [1].", "One is not. Two is three", [[], []], ["cut"]),
        (" [1] ", "", [], ["unreadable"]),
    ],
)
def test_marks_become_citations_and_leave_the_text(
    reply: str, text: str, cited: list[list[str]], faults: list[str]
) -> None:
    found = cited_text(reply, ["a", "b", "c"], most_words=6)

    rows = [(row.text, [one["citations"] for one in row.data["sentences"]]) for row in found.rows]
    assert rows == ([(text, cited)] if text else [])
    assert [fault.kind for fault in found.faults] == faults


def test_every_baseline_has_the_same_prompt_and_length(collection: Collection) -> None:
    with_ranking(collection)
    asked = {}
    for name in ("report-direct", "report-summary", "report-passages"):
        engine = Scripted(lambda _: "One [1]. Two.")
        options = replace(PIPELINES[name].defaults, words_of="alpha-1")
        build = finish(a_build(collection, name, topics=("t0",), options=options), engine)
        asked[name] = engine.asked[0].prompt
        assert build.products.get().text == "One. Two."
        assert (engine.asked[0].sampling.temperature if engine.asked[0].sampling else None) == 0

    passages = collection.passages.filter(passage_id__startswith="t0-")
    words = sum(len((one.text or "").split()) for one in passages)
    assert all(f"in at most {words} words" in prompt for prompt in asked.values())
    assert "(No texts are given" in asked["report-direct"]
    assert collection.runs.get().reports.get(topic__topic_id="t0").text in asked["report-summary"]
    second = passages.order_by("pk")[1]
    assert f"[2] {second.title}: {second.text}" in asked["report-passages"]
    product = Build.objects.get(pipeline="report-passages").products.get()
    assert [one["citations"] for one in product.data["sentences"]] == [["t0-p0"], []]
    with pytest.raises(CannotBuild, match="no run “none”"):
        a_build(collection, "report-direct", options=replace(options, words_of="none"))


def test_clapnqs_examples_are_none_one_or_one_of_each(collection: Collection) -> None:
    with_ranking(collection)
    collection.passages.filter(passage_id="t0-p0").update(title="Bridges")
    counted = []
    for examples in ("0", "1/0", "1/1"):
        engine = Scripted(lambda _: "unanswerable")
        options = replace(PIPELINES["clapnq-answers"].defaults, examples=examples)
        finish(a_build(collection, "clapnq-answers", topics=("t0",), depth=1, options=options), engine)
        prompt = engine.asked[0].prompt
        counted.append((prompt.count("An example."), prompt.count("Answer: unanswerable")))
        assert "\nBridges: Passage 0" in prompt

    assert counted == [(0, 0), (1, 0), (2, 1)]
