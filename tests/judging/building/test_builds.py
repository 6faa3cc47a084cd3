"""Pipelines from their first call to the collection, with scripted replies."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from collection.models import BankEntry, BankVersion, Collection, RankedPassage, RubricElement, Run, User
from judging.building import builds, worker
from judging.building.additions.addition import add_to_collection
from judging.building.builds import ask_again, cancel, do_again, go_on, pause, requeue_stalled_builds
from judging.building.calls import Received, store_replies
from judging.building.drafts import draft
from judging.building.estimate import estimate
from judging.building.progress import in_words, steps_of
from judging.building.prompt_files import SHIPPED, BadPrompt, read_prompt
from judging.building.review import NotReviewable, decide, products_to_review, review_counts
from judging.building.shipped import PIPELINES
from judging.building.shipped.reports import REPORTS
from judging.building.sources import CannotBuild
from judging.engines import GradeRequest, Reply
from judging.grading.jobs import JobLimits, LimitReached, WrongState
from judging.grading.leases import Lease
from judging.models import Build, GenerationCall
from judging.prompts.refusals import is_refusal
from tests.attacks.mutations import FULL
from tests.judging.building.world import Killed, Scripted, a_build, a_request, finish, with_ranking

pytestmark = pytest.mark.django_db


def questions(request: GradeRequest) -> str:
    number = re.findall(r"ubject (\d)", request.prompt)[0]
    return f"<q>What is fact 0 of subject {number}?</q><q>What is new in subject {number}?</q>"


def accept_all(build: Build, by: User) -> None:
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=by, at=now())


def test_cruxs_questions_become_sub_questions_after_review(collection: Collection, rosa: User) -> None:
    build = a_build(collection, "crux-questions", by=rosa, options=PIPELINES["crux-questions"].defaults)
    finish(build, Scripted(questions))
    first, second, third, fourth = products_to_review(build)
    decide(build, [first.pk, second.pk], "accepted", by=rosa, at=now())
    decide(build, [third.pk], "rejected", by=rosa, at=now())
    decide(build, [fourth.pk], "edited", text="What is newest in subject 1?", by=rosa, at=now())

    added = add_to_collection(build, by=rosa, at=now())

    assert build.state == "done"
    assert (added.new, added.known) == (2, 1)  # “What is fact 0 of subject 0?” stood there before
    made = RubricElement.objects.filter(attributes__has_key="generated").order_by("pk")
    assert [(one.topic.topic_id, one.position, one.text) for one in made] == [
        ("t0", 3, "What is new in subject 0?"),
        ("t1", 3, "What is newest in subject 1?"),
    ]
    making = made[1].attributes["generated"]
    assert (making["prompt"], making["prompt_version"], making["review"], making["reviewed_by"], making["raw"]) == (
        "crux-questions", 1, "edited", "rosa", "What is new in subject 1?",
    )  # fmt: skip
    assert making["sampling"]["temperature"] == 0.7
    assert in_words(build, steps_of(build)).startswith(
        "3 of 4 sub-questions on 2 of 2 topics are accepted, 0 wait for review and 1 were rejected; 2 of 2 replies"
    )
    with pytest.raises(CannotBuild, match="Nothing is accepted"):
        add_to_collection(build, by=rosa, at=now())
    with pytest.raises(NotReviewable, match="in the collection already"):
        decide(build, [fourth.pk], "rejected", by=rosa, at=now())


def test_faults_are_counted_and_nothing_is_filled_in(collection: Collection, rosa: User) -> None:
    replies = iter([
        Reply("<q>One?</q><q>Two", finish_reason="length"),
        Reply(ungraded="refused", error="The server’s content filter stopped it."),
    ])  # fmt: skip
    build = finish(a_build(collection, "crux-questions"), Scripted(lambda _: next(replies)))

    (step,) = steps_of(build)

    assert (step.done, step.faulty, step.faults) == (2, 2, {"truncated": 1, "too_few": 1, "refused": 1})
    assert [one.text for one in products_to_review(build)] == ["One?"]


def points(request: GradeRequest) -> Reply | str:
    if request.choices:
        return Reply("YES", log_probabilities={"YES": -0.1, "NO": -2.4})
    if "Points that were found" in request.prompt:
        return "Both facts are known. [1, 2]" if "was wrong" in request.prompt else "Only one. [1]"
    said = re.findall(r"(Passage \d says fact \d of subject \d)", request.prompt)[0]
    return f"Point 1: <point_start>{said[-20:]}.<point_end><span_start>{said}<span_end>"


def test_long2rags_points_are_aggregated_with_their_spans_once_more_with_the_offence_named(
    collection: Collection, rosa: User
) -> None:
    engine = Scripted(points)
    build = finish(a_build(with_ranking(collection), "long2rag-key-points", by=rosa), engine)
    accept_all(build, rosa)

    add_to_collection(build, by=rosa, at=now())

    assert len(engine.asked) == 2 * 4 + 2 * 2 + 2
    assert "it left out number 2" in engine.asked[-3].prompt
    made = RubricElement.objects.filter(attributes__has_key="generated")
    assert [one.text for one in made] == ["Both facts are known."] * 2
    spans = made[0].spans.order_by("passage")
    assert [(one.passage.passage_id, one.quote) for one in spans] == [
        ("t0-p0", "Passage 0 says fact 0 of subject 0"),
        ("t0-p1", "Passage 1 says fact 1 of subject 0"),
    ]


def test_a_span_that_is_not_verbatim_is_asked_for_once_more_and_then_dropped(collection: Collection) -> None:
    bad = "Point 1: <point_start>So it is.<point_end><span_start>never said<span_end>"
    engine = Scripted(lambda _: bad)
    build = finish(a_build(with_ranking(collection), "long2rag-key-points", topics=("t0",)), engine)

    points_step, aggregate, _ = steps_of(build)

    assert len(engine.asked) == 2 * 2
    assert {request.sampling.seed for request in engine.asked if request.sampling} == {1, 2}
    assert (points_step.faults, points_step.products.total, aggregate.total) == ({"not_verbatim": 4}, 0, 0)


def nuggets(request: GradeRequest) -> str:
    if "Give each fact a label" in request.prompt:
        return json.dumps({"labels": ["vital"] + ["okay"] * (request.prompt.count("\n2. ") + 0)})
    known = json.loads(re.findall(r"as a JSON list: (\[.*\])", request.prompt)[0])
    return json.dumps({"nuggets": [*known, f"Fact {len(known)} is so."]})


def test_nuggets_grow_window_after_window_and_make_a_version_of_a_bank(
    collection: Collection, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judging.building.shipped.nuggets.WINDOW", 1)
    build = finish(a_build(with_ranking(collection), "nuggets", by=rosa, topics=("t0",)), Scripted(nuggets))
    accept_all(build, rosa)

    added = add_to_collection(build, bank="facts", by=rosa, at=now())

    assert isinstance(added.into, BankVersion)
    entries = BankEntry.objects.filter(version=added.into).order_by("position")
    assert (added.into.number, added.into.bank.name) == (1, "facts")
    assert [(one.element.text, one.importance) for one in entries] == [
        ("Fact 0 is so.", "vital"), ("Fact 1 is so.", "okay"),
    ]  # fmt: skip


def test_a_round_that_cannot_be_read_loses_no_nugget(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.building.shipped.nuggets.WINDOW", 1)

    def script(request: GradeRequest) -> str:
        return "Sorry." if "[2] Passage 1" in request.prompt else nuggets(request)

    build = finish(a_build(with_ranking(collection), "nuggets", topics=("t0",)), Scripted(script))

    assert [one.text for one in build.products.filter(step="nuggets")] == ["Fact 0 is so."]
    assert steps_of(build)[0].faults == {"unreadable": 1}


REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "<r>I’m sorry, but I cannot assist with that request.</r>",
    '{"nuggets": ["I am unable to provide this."]}',
    "Sorry, I won't write that.",
    "As an AI language model, I cannot give an opinion on this.",
    "**I cannot fulfill this request.**",
]
TEXTS = [
    "We cannot help but notice that the bridge sings in every wind.",
    "Unfortunately, the bridge was closed in 1940, as it could not carry trains.",
    "I'm sorry, but I can't help with that. " + "The bridge was built in 1883 and has two towers of stone. " * 20,
    "The engineer said: I cannot help you.",
    "",
]


@pytest.mark.parametrize(("reply", "is_one"), [*((one, True) for one in REFUSALS), *((one, False) for one in TEXTS)])
def test_a_refusal_is_known_by_how_it_begins(reply: str, is_one: bool) -> None:
    assert is_refusal(reply) is is_one


@pytest.mark.parametrize("reply", ["<p>I'm sorry, but I can't help with that.</p>"])
def test_a_refusal_is_rejected_until_somebody_accepts_it(collection: Collection, rosa: User, reply: str) -> None:
    build = finish(
        a_build(with_ranking(collection), "crux-passages", by=rosa, topics=("t0",)), Scripted(lambda _: reply)
    )
    products = products_to_review(build)

    rejected = set(products.values_list("state", flat=True))
    unread = products.filter(state="proposed").count()
    faults = steps_of(build)[0].faults
    decide(build, [products[0].pk], "accepted", by=rosa, at=now())

    assert rejected == {"rejected"}
    assert faults == {"reads_as_refusal": 2}
    assert unread == 0
    assert products_to_review(build).filter(state="accepted").count() == 1


def test_passages_are_named_by_topic_document_and_number(collection: Collection, rosa: User) -> None:
    engine = Scripted(lambda _: "<p>One part.</p><p> </p><p>Another part.</p>")
    build = finish(a_build(with_ranking(collection), "crux-passages", by=rosa, topics=("t0",)), engine)
    accept_all(build, rosa)

    add_to_collection(build, by=rosa, at=now())

    made = collection.passages.filter(attributes__has_key="generated").order_by("pk")
    assert [(one.passage_id, one.document_id) for one in made] == [
        ("t0:t0-p0#0", "t0-p0"), ("t0:t0-p0#1", "t0-p0"), ("t0:t0-p1#2", "t0-p1"), ("t0:t0-p1#3", "t0-p1"),
    ]  # fmt: skip
    ranked = RankedPassage.objects.filter(run__name="alpha-1-passages", topic__topic_id="t0").order_by("rank")
    assert [(one.passage_id, one.rank) for one in ranked] == [(one.passage_id, n) for n, one in enumerate(made, 1)]


def test_passages_of_a_later_build_are_ranked_behind_and_a_run_of_their_name_is_left_alone(
    collection: Collection, rosa: User
) -> None:
    with_ranking(collection)
    for text in ("One part.", "Another part."):
        reply = f"<p>{text}</p>"
        build = finish(a_build(collection, "crux-passages", by=rosa, topics=("t0",)), Scripted(lambda _: reply))  # noqa: B023
        accept_all(build, rosa)
        add_to_collection(build, by=rosa, at=now())

    run = Run.objects.get(name="alpha-1-passages")
    assert list(run.ranking.order_by("rank").values_list("passage_id", "rank")) == [
        ("t0:t0-p0#0", 1), ("t0:t0-p1#1", 2), ("t0:t0-p0#2", 3), ("t0:t0-p1#3", 4),
    ]  # fmt: skip
    Run.objects.filter(pk=run.pk).update(attributes={})
    build = finish(a_build(collection, "crux-passages", by=rosa, topics=("t1",)), Scripted(lambda _: "<p>One.</p>"))
    accept_all(build, rosa)
    with pytest.raises(CannotBuild, match="“alpha-1-passages” that no build made"):
        add_to_collection(build, by=rosa, at=now())


def facts(request: GradeRequest) -> str:
    """Say each sentence as a fact, infer the first, rank backwards and smooth nothing."""
    inside = re.findall(r"\[begin \w+\]\n(.*)\n\[end", request.prompt, re.DOTALL)[0]
    if "List the key facts" in request.prompt:
        return "\n".join(re.findall(r"\w[^.]*\.", inside))
    if "Does the document state the fact" in request.prompt:
        return str(re.findall(r"\w[^.]*\.", inside)[0])
    if "Rank these" in request.prompt:
        return json.dumps({"order": list(range(1, inside.count("\n") + 2))[::-1]})
    if "Are you confident" in request.prompt:
        return "Yes"
    return str(inside).rpartition("Second sentence: ")[2]


def evolved(request: GradeRequest) -> str:
    """Bring a question or two, by what is asked: the rounds of a cell are of several lengths."""
    number = len(request.prompt) % 3
    return " ".join(f"[Why is it so {number} {n}?]" for n in range(number)) or "None"


SCRIPTS: dict[str, Callable[[GradeRequest], Reply | str]] = {
    "crux-requests": lambda _: "<r>Please write.</r>",
    "crux-questions": questions,
    "crux-passages": lambda _: "<p>One.</p><p>Two.</p>",
    "rubric-questions": lambda _: '{"questions": ["Why?"]}',
    "long2rag-key-points": points,
    "long2rag-own-points": lambda _: "Point 1: <point_start>So.<point_end><span_start>never said<span_end>",
    "long2rag-evolve": evolved,
    "long2rag-filter": lambda _: "[4]",
    "long2rag-categories": lambda _: '{"category": "causal"}',
    "long2rag-parts": lambda _: '{"type": "Complex", "questions": ["How?", "Why?"]}',
    "nuggets": nuggets,
    **dict.fromkeys((one.name for one in REPORTS), lambda _: "One is [1]. Two is."),
    "rifer": facts,
    "eifrp": facts,
}


# Each pipeline with a seed of its own; `make nightly` takes more of them.
@pytest.mark.parametrize(
    ("pipeline", "seed"), [(name, seed) for n, name in enumerate(PIPELINES) for seed in (range(8) if FULL else [n])]
)
def test_a_worker_that_is_killed_repeats_no_finished_call_and_loses_none(
    collection: Collection, pipeline: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while it asks, before it stores or after; what has its reply is never asked again."""
    monkeypatch.setattr("judging.building.shipped.nuggets.WINDOW", 1)
    monkeypatch.setattr(worker, "ASKED_AT_ONCE", 2)
    monkeypatch.setattr("judging.building.shipped.long2rag_evolution.DOMAINS", ("sea", "sky"))
    chance = random.Random(seed)
    collection.topics.update(attributes={"category": "causal"})
    build = a_build(with_ranking(collection), pipeline)
    finished_when_asked: list[int] = []
    stored = store_replies

    def dying_store(of: Build, received: Any, *, at: Any) -> int:
        when = chance.random()
        if when < 0.2:
            raise Killed
        count = stored(of, received, at=at)
        if when > 0.8:
            raise Killed
        return count

    def script(request: GradeRequest) -> Reply | str:
        finished_when_asked.extend(
            GenerationCall.objects.filter(pk=request.item_id, finished_at__isnull=False).values_list("pk", flat=True)
        )
        return SCRIPTS[pipeline](request)

    monkeypatch.setattr(worker, "store_replies", dying_store)
    monkeypatch.setattr(worker, "Asking", InThisThread)
    monkeypatch.setattr(builds, "Lease", KilledLease)
    deaths = 0
    for _ in range(60):
        build.refresh_from_db()
        if not build.active:
            break
        try:
            finish(build, Scripted(script))
        except Killed:
            deaths += 1
            Build.objects.filter(pk=build.pk).update(leased_until=now() - timedelta(seconds=1))

    monkeypatch.setattr(worker, "store_replies", stored)
    undisturbed = finish(a_build(collection, pipeline), Scripted(SCRIPTS[pipeline]))
    assert (build.state, undisturbed.state) == ("done", "done"), deaths
    assert finished_when_asked == []
    assert made_by(build) == made_by(undisturbed)


def made_by(build: Build) -> tuple[list[Any], list[Any]]:
    calls = build.calls.order_by("step", "inputs_hash").values_list("step", "inputs_hash", "reply")
    return list(calls), sorted(build.products.values_list("step", "topic", "position", "raw"))


class KilledLease(Lease):
    """Whoever is killed gives nothing back."""

    def __exit__(self, *error: object) -> None:
        if error[0] is Killed:
            self.held = {}
        super().__exit__(*error)


class InThisThread:
    """An engine that works where it is asked, so that a seed says when it dies."""

    def __init__(self, engine: Scripted, *, over: Any, read: Any, leaving: Any, heard: Any) -> None:
        self.engine, self.read, self.no = engine, read, False
        self.waiting: list[GradeRequest] = []

    hungry = property(lambda self: not self.no and not self.waiting)
    ended = property(lambda self: self.no and not self.waiting)

    def ask(self, requests: Any) -> None:
        self.waiting += requests

    def no_more(self) -> None:
        self.no = True

    def stop(self) -> None:
        self.no, self.waiting = True, []

    close = stop

    def replies(self, _: float) -> list[Received]:
        asked, self.waiting = self.waiting, []
        return [self.read(*one) for one in self.engine.grade(asked, stopping=lambda: False)]


def test_a_build_is_paused_by_its_limit_and_goes_on_under_another(collection: Collection, rosa: User) -> None:
    engine = Scripted(lambda request: Reply(questions(request), prompt_tokens=60, completion_tokens=50))
    build = a_build(collection, "crux-questions", limits=JobLimits(token_limit=100))
    worked = worker.take_turn(build_id=build.pk, generation=build.generation, engine_for=lambda _: engine, seconds=5)
    build.refresh_from_db()
    while build.active:  # the engine may have taken both before the first was written
        worked = worker.take_turn(build_id=build.pk, generation=build.generation, engine_for=lambda _: engine)
        build.refresh_from_db()

    if build.state == "paused":
        assert (build.pause_cause, worked) == ("tokens", False)
        with pytest.raises(LimitReached, match="Raise it"):
            go_on(build, at=now())
        go_on(build, limits=JobLimits(token_limit=10_000), at=now())
        finish(build, engine)
    assert (build.state, len(engine.asked)) == ("done", 2)
    assert build.tokens == 220


def test_a_step_done_again_asks_only_what_comes_out_otherwise(collection: Collection, rosa: User) -> None:
    engine = Scripted(points)
    build = finish(a_build(with_ranking(collection), "long2rag-key-points", topics=("t0",)), engine)
    before, asked = build.products.count(), len(engine.asked)

    do_again(build, step="aggregate", at=now())
    again = finish(build, engine)
    same = len(engine.asked)
    do_again(build, step="aggregate", seed=7, at=now())
    finish(build, engine)

    assert (again.state, same, build.products.count()) == ("done", asked, before * 2 - 2)
    assert len(engine.asked) == asked + 3
    assert [one.text for one in products_to_review(build)] == ["Both facts are known."]
    with pytest.raises(CannotBuild, match="no step"):
        do_again(build, step="none", at=now())
    bad = read_prompt(b'name = "mine"\ntext = "{colour}"', file_name="mine.toml")
    with pytest.raises(BadPrompt, match=r"placeholder \{colour\}"):
        do_again(build, step="aggregate", prompt=bad, at=now())


def test_the_next_step_reads_only_what_was_accepted_where_each_step_is_reviewed(
    collection: Collection, rosa: User
) -> None:
    engine = Scripted(points)
    build = finish(a_build(with_ranking(collection), "long2rag-key-points", topics=("t0",), reviews_steps=True), engine)
    waited = build.state
    first, second = products_to_review(build)
    decide(build, [first.pk], "accepted", by=rosa, at=now())
    decide(build, [second.pk], "rejected", by=rosa, at=now())

    go_on(build, at=now())
    finish(build, engine)

    assert (waited, build.state) == ("review", "review")
    assert [one.text for one in products_to_review(build)] == ["Only one."]
    with pytest.raises(NotReviewable, match="another has begun"):
        decide(build, [first.pk], "rejected", by=rosa, at=now())


def test_two_readers_must_agree_where_two_are_wanted(collection: Collection, rosa: User, mallory: User) -> None:
    build = finish(a_build(collection, "crux-questions", reviewers=2), Scripted(questions))
    first, second, *_ = products_to_review(build)
    decide(build, [first.pk, second.pk], "accepted", by=rosa, at=now())
    after_one = review_counts(build, "questions")
    decide(build, [first.pk], "accepted", by=mallory, at=now())
    decide(build, [second.pk], "rejected", by=mallory, at=now())

    counts = review_counts(build, "questions")

    assert (after_one.accepted, after_one.proposed) == (0, 4)
    assert (counts.accepted, counts.proposed, counts.seen_by_two, counts.agreed) == (1, 3, 2, 1)


def test_what_got_no_reply_is_asked_again_and_nothing_else(collection: Collection) -> None:
    failing = {"t0"}

    def script(request: GradeRequest) -> Reply | str:
        failed = "subject 0" in request.prompt and failing
        return Reply(ungraded="engine_error", error="Out of order.") if failed else questions(request)

    engine = Scripted(script)
    build = finish(a_build(collection, "crux-questions"), engine)
    without = steps_of(build)[0].faults["engine_error"]
    failing.clear()

    asked_again = ask_again(build, at=now())
    finish(build, engine)

    assert (without, asked_again, len(engine.asked)) == (1, 1, 3)
    assert (build.state, products_to_review(build).count()) == ("done", 4)


def test_an_estimate_knows_the_first_steps_prompts_and_bounds_the_rest(collection: Collection) -> None:
    drafted, left_out = draft(
        with_ranking(collection), a_request("long2rag-key-points", limits=JobLimits(price_in=1.0)), by=None, at=now()
    )

    found = estimate(drafted)

    unknown = ["Key points of each topic", "Score of each key point"]
    assert (found.most_calls, found.unknown, left_out) == (2 * 3 * 4 + 2 * 2 + 2 * 1024 // 8, unknown, {})
    assert found.steps[0].prompt_tokens
    assert found.cost == pytest.approx(found.steps[0].prompt_tokens / 1_000_000)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"pipeline": "none"}, "no pipeline"),
        ({"summaries": ""}, "needs a run of reports"),
        ({"summaries": "beta"}, "no run “beta”"),
        ({"topics": ("t9",)}, "no topic “t9”"),
    ],
)
def test_a_build_without_its_sources_is_refused(collection: Collection, fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(CannotBuild, match=reason):
        a_build(collection, **{"pipeline": "crux-questions"} | fields)


def test_a_cancelled_build_asks_nothing_more(collection: Collection) -> None:
    build = a_build(collection, "crux-questions")
    pause(build)
    cancel(build, at=now())

    engine = Scripted(questions)

    assert finish(build, engine).state == "cancelled"
    assert engine.asked == []
    with pytest.raises(WrongState, match="cancelled"):
        pause(build)


# A prompt whose words change gets another version: add its new line, and keep the old one out of use.
FINGERPRINTS = {
    ("clapnq-answer", 1): "656ec1c4eea5",
    ("crux-passages", 1): "e32542913caa",
    ("crux-requests", 1): "1e9421139c14",
    ("crux-questions", 1): "9ff41087c2da",
    ("eifrp-rank", 1): "08ce843b9149",
    ("eifrp-relevant", 1): "d4ed136e0018",
    ("long2rag-aggregate", 1): "47b97d38f267",
    ("long2rag-categories", 1): "b969f1c108bd",
    ("long2rag-depth", 1): "d99bc2719d49",
    ("long2rag-filter", 1): "08eda5449c74",
    ("long2rag-parts", 1): "ee1d1e85146e",
    ("long2rag-answer", 1): "92f0bc749e03",
    ("long2rag-points", 3): "e69c2202fa59",
    ("long2rag-score", 1): "710f5e87fd3a",
    ("long2rag-width", 1): "6b6a98b5004e",
    ("nugget-importance", 1): "b600c84dd576",
    ("nuggets", 1): "edd83af466e0",
    ("report", 1): "e4bec608775f",
    ("rifer-confident", 1): "9581c522112f",
    ("rifer-extract", 1): "0b28dc9cfddb",
    ("rifer-infer", 1): "508080bc41c5",
    ("rifer-smooth", 1): "4de37f05efd4",
    ("rubric-questions", 1): "296885731cd8",
}


def test_a_shipped_prompt_that_changes_gets_another_version() -> None:
    prompts = [read_prompt(path.read_bytes(), file_name=path.name) for path in sorted(SHIPPED.glob("*.toml"))]

    assert {(one.name, one.version): one.content_hash[:12] for one in prompts} == FINGERPRINTS
    for slot in (slot for pipeline in PIPELINES.values() for slot in pipeline.slots.values()):
        slot.check(slot.prompt())


def test_a_build_whose_worker_is_gone_is_sent_to_another_once(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: sent.append((name, args)))
    build = a_build(collection, "crux-questions")
    later = now() + timedelta(minutes=2)

    with django_capture_on_commit_callbacks(execute=True):
        requeued = [requeue_stalled_builds(at=now()), *(requeue_stalled_builds(at=later) for _ in range(2))]

    assert requeued == [[], [build], []]
    assert set(map(str, sent)) == {f"('judging.build', [{build.pk}, 1])"}


def test_a_build_that_wrote_nothing_says_so(collection: Collection) -> None:
    build = finish(a_build(with_ranking(collection), "nuggets", topics=("t0",)), Scripted(lambda _: "Sorry."))

    assert in_words(build, steps_of(build)) == "No nugget was written: 1 of 1 replies have a fault."
