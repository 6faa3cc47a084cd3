"""The simulation draws each label by itself, from what the author meant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from collection.judgments.services import check_spans
from config.demonstration.answers import meant_by
from config.demonstration.simulation import (
    ASSESSORS,
    SENTENCE,
    JudgedItem,
    SimulatedAssessor,
    answer_evaluation,
    marked,
    simulated_grades,
)
from config.demonstration.sources import demonstration_topics

INFALLIBLE = SimulatedAssessor("nobody", sensitivity=1, specificity=1, temptation=0, leniency=0, spread=0, slip=0)
CONTRARY = replace(INFALLIBLE, sensitivity=0, specificity=0, temptation=1)
REPORT = "Bees dance. They hum a little, at 250 hertz. “Why?” Nobody knows."


def grades(assessor: SimulatedAssessor, task_type: str, topic: str, text: str, element: str) -> dict[str, float]:
    item = JudgedItem(task_type, topic, text, element)
    return {said.criterion: said.grade for said in simulated_grades(assessor, item)}


def test_says_the_same_of_the_same_item_twice() -> None:
    items = [JudgedItem("answerability", "bees", run, "q3") for run in ("harbour", "lantern", "quill")]

    first = [simulated_grades(assessor, item) for assessor in ASSESSORS for item in items]
    again = [simulated_grades(assessor, item) for item in items for assessor in ASSESSORS]

    assert sorted(map(repr, first)) == sorted(map(repr, again))


def test_the_infallible_say_what_the_author_meant() -> None:
    for topic in demonstration_topics().values():
        for run, report in topic.reports.items():
            for question in topic.asked:
                said = grades(INFALLIBLE, "answerability", topic.topic_id, run, question.element_id)

                assert said == {"answerability": question.element_id in report.answers}


@pytest.mark.parametrize(
    ("text", "element", "meant"),
    [
        ("bees-p4", "q6", 5),
        ("bees-p4", "q3", 2),
        ("bees-p4", "q1", 0),
        ("metre-p6", "q6", 0),  # a passage of another topic
    ],
)
def test_the_infallible_grade_passages_as_they_are_meant(text: str, element: str, meant: int) -> None:
    assert grades(INFALLIBLE, "rating", "bees", text, element) == {"rating": meant}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("bees-p4", 3),  # answers a question fully
        ("metre-p6", 0),  # a passage of another topic
    ],
)
def test_the_infallible_find_a_passage_as_relevant_as_its_best_answer(text: str, meant: int) -> None:
    assert grades(INFALLIBLE, "relevance", "bees", text, "") == {"relevance": meant}


def test_answers_are_rated_as_their_author_meant_but_for_errors_within_the_scale() -> None:
    meant = meant_by("tacoma-cause", "quill-answers")

    said = {one.criterion: one.grade for one in answer_evaluation(INFALLIBLE, "an answer", meant)}
    lenient = answer_evaluation(replace(INFALLIBLE, leniency=9), "an answer", meant)

    assert said == {"unknown": 0, "incoherent": 1, "natural": 3, "appropriate": 1, "faithful": 1}
    assert {one.grade for one in lenient if one.criterion in ("natural", "appropriate", "faithful")} == {4}


def test_utility_is_given_only_to_what_is_grounded() -> None:
    grounded = grades(INFALLIBLE, "key_point", "bees", "bees-p4", "k1")
    not_grounded = grades(INFALLIBLE, "key_point", "bees", "bees-p4", "k3")

    assert grounded == {"grounded": 1, "utility": 1}
    assert not_grounded == {"grounded": 0}


def test_the_contrary_mark_what_only_seems_to_answer() -> None:
    item = JudgedItem("answerability", "bees", "harbour", "q4")
    report = demonstration_topics()["bees"].reports["harbour"]

    [said] = simulated_grades(CONTRARY, item)

    assert said.grade == 1
    [span] = said.spans
    assert span.quote in report.near_misses["q4"] or report.near_misses["q4"] in span.quote


def test_a_positive_answer_is_marked_where_its_words_stand_and_a_negative_one_is_not() -> None:
    for topic in demonstration_topics().values():
        for run, report in topic.reports.items():
            for question in topic.asked:
                for assessor in ASSESSORS:
                    item = JudgedItem("answerability", topic.topic_id, run, question.element_id)
                    [said] = simulated_grades(assessor, item)

                    check_spans(said.spans, report.text)
                    assert bool(said.spans) == (said.grade == 1)


def test_ratings_stay_on_the_scale() -> None:
    wild = replace(INFALLIBLE, spread=5.0, leniency=1.0, slip=1.0)

    seen = Counter(
        grades(wild, "rating", topic.topic_id, passage_id, question.element_id)["rating"]
        for topic in demonstration_topics().values()
        for passage_id in topic.passages
        for question in topic.asked
    )

    assert set(seen) == {0, 1, 2, 3, 4, 5}


def test_sentences_end_at_their_marks_and_not_inside_numbers() -> None:
    assert SENTENCE.findall("It is 2.4 metres. “Is it?” Yes. And on") == [
        "It is 2.4 metres.",
        "“Is it?”",
        "Yes.",
        "And on",
    ]


@pytest.mark.parametrize("seed", range(40))
def test_a_mark_overlaps_its_quote_and_stays_within_its_sentences(seed: int) -> None:
    quote = "hum a little"

    span = marked(REPORT, quote, Random(seed))

    check_spans([span], REPORT)
    assert span.quote in "They hum a little, at 250 hertz."
    assert span.start < REPORT.index(quote) + len(quote)
    assert span.end > REPORT.index(quote)
