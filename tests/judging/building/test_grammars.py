"""Grammars of replies: what a model that is bound to one can say, and when a call is bound."""

from __future__ import annotations

import re

import pytest

from collection.models import Collection
from judging.building.pipelines import Options
from judging.building.prompt_files import StepPrompt
from judging.building.replies import grammars
from judging.building.reply_parsing import Row, json_list, json_list_raw, merged, points_with_spans, tagged
from judging.engines import GradeRequest
from tests.judging.building.gbnf import matches
from tests.judging.building.world import Scripted, a_build, finish

DOCUMENT = "Bees “dance” on a comb.\nThey want a hollow, say 40 litres."
POINT = "Point 1: <point_start>Bees look for room.<point_end><span_start>{}<span_end>"
TWO = '{"questions": ["Why \\"sway\\"?", "Who paid?"]}'


@pytest.mark.parametrize(
    ("grammar", "right", "wrong"),
    [
        (grammars.one_of(["No", 'A "b" \\ c.']), 'A "b" \\ c.', "A"),
        (grammars.one_line(), "Wie [groß], „so“?", "One\nTwo"),
        (grammars.tags("q", 2, 2, of="question"), "<q>Why?</q>\n<q>Who paid?</q>", "<q>Why?</q>"),
        (grammars.tags("p", 2, 3, of="passage"), "<p>Why.</p>\n<p>Who.</p>", "Here: <p>Why.</p>\n<p>Who.</p>"),
        (grammars.until_tag("r", of="request"), "Please report.</r>", "Please report."),
        (grammars.until_tag("r", of="request"), "<r>Please report.</r>", "<r></r>"),
        (grammars.brackets(2), "[Why so?]\n[Who?]", "[Why so?]\n[Who?]\n[How?]"),
        (grammars.texts_in("questions", 2, 2), TWO, '{"questions": ["Why?"]}'),
        (grammars.texts_in("nuggets", 0, 30, of="nugget"), '{"nuggets": []}', '{"nuggets": [""]}'),
        (grammars.labels_in("labels", ("vital", "okay"), 1), '{"labels": ["okay"]}', '{"labels": ["no"]}'),
        (grammars.typed_texts("t", ("S", "C"), "S", "q", 2), '{"t": "S", "q": []}', '{"t": "C", "q": []}'),
        (grammars.typed_texts("t", ("S", "C"), "S", "q", 2), '{"t": "C", "q": ["a"]}', '{"t": "S", "q": ["a"]}'),
        (grammars.lines_or_none(2), "None", ""),
        (grammars.lines_or_none(2), "A hollow.\nÜber 40 litres.", "- A hollow."),
        (grammars.order_in("order", 3), '{"order": [3, 1, 2]}', '{"order": [3, 1, 1]}'),
        (grammars.order_in("order", 8), '{"order": [8, 1, 1, 1, 1, 1, 1, 1]}', '{"order": [8]}'),
        (grammars.merged_in_order(3), "Both. [1, 2]\nThe third. [3]", "Both. [1]\nThe third. [3]"),
        (grammars.merged_in_order(2), "One. [1]\nTwo. [2]", "Two. [2]\nOne. [1]"),
        (grammars.points_with_spans(DOCUMENT, 2), POINT.format("comb.\nThey want"), POINT.format("comb. They want")),
        (grammars.points_with_spans(DOCUMENT, 2), "None", POINT.format("dance")),
    ],
)
def test_a_grammar_lets_pass_the_form_and_nothing_else(grammar: str, right: str, wrong: str) -> None:
    assert matches(grammar, right)
    assert not matches(grammar, wrong)


def test_what_a_grammar_lets_pass_is_read_without_a_fault_of_form() -> None:
    read = [
        tagged("<q>Why?</q>\n<q>Who paid?</q>", "q", count=2),
        json_list(TWO, "questions", count=2),
        merged("Both. [1, 2]\nThe third. [3]", [Row("a"), Row("b"), Row("c")]),
        points_with_spans(POINT.format("comb.\nThey want"), DOCUMENT, docno="d"),
    ]

    assert [len(parsed.rows) for parsed in read] == [2, 2, 2, 1]
    assert not any(parsed.faults for parsed in read)
    assert json_list_raw('{"order": [3, 1, 2]}', "order") == [3, 1, 2]


def test_a_text_that_is_too_long_to_copy_from_is_not_bound() -> None:
    assert not grammars.points_with_spans("", 2)
    assert grammars.points_with_spans("word " * grammars.MOST_WORDS_TO_COPY, 2)
    assert not grammars.points_with_spans("word " * (grammars.MOST_WORDS_TO_COPY + 1), 2)


def test_an_order_of_many_stays_small() -> None:
    assert max(len(grammars.order_in("order", n)) for n in range(2, 61)) < 100_000


def test_quotes_are_written_so_that_no_letter_behind_them_is_read_as_their_code() -> None:
    assert not re.search(r"\\x22", grammars.one_of(['"Complex"']))


def _grammars_of(engine: Scripted) -> set[str]:
    return {request.sampling.grammar for request in engine.asked if request.sampling}


def _questions(_: GradeRequest) -> str:
    return "<q>Why?</q>\n<q>Who paid?</q>"


def test_a_call_goes_to_the_engine_with_the_grammar_of_what_it_asks_for(collection: Collection) -> None:
    engine = Scripted(_questions)

    build = finish(a_build(collection, "crux-questions", options=Options(count=2)), engine)

    assert _grammars_of(engine) == {grammars.tags("q", 2, 2, of="question")}
    assert build.products.count() == 2 * build.calls.count()


def test_whoever_brings_a_prompt_is_bound_to_no_form_but_that_of_the_schema(collection: Collection) -> None:
    engine = Scripted(_questions)
    own = StepPrompt("own", 1, "Think, then write {count} questions between <q> and </q>: {text}")

    finish(a_build(collection, "crux-questions", prompts={"questions": own}), engine)

    assert _grammars_of(engine) == {""}


def test_a_call_that_was_planned_before_there_were_grammars_is_not_asked_twice(collection: Collection) -> None:
    build = a_build(collection, "crux-questions")
    for call in build.calls.all():
        del call.sampling["grammar"]
        call.save()
    before = build.calls.count()

    finish(build, engine := Scripted(_questions))

    assert build.calls.count() == len(engine.asked) == before
