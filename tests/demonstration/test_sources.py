"""The demonstration's texts are what every visitor reads first: they must hold what they promise."""

from __future__ import annotations

import re
from statistics import mean

from config.demonstration.lines import FAMILIES, collection_lines
from config.demonstration.sources import demonstration_topics

TOPICS = list(demonstration_topics().values())
REPORTS = [(topic, report) for topic in TOPICS for report in topic.reports.values()]


def coverage(system: str) -> list[float]:
    """The share of its sub-questions that each of the system's reports answers, as its author meant it."""
    return [len(topic.reports[system].answers) / len(topic.asked) for topic in TOPICS]


def n_words(text: str) -> int:
    return len(text.split())


def test_there_are_six_topics_and_two_masked_sub_questions() -> None:
    masked = [question for topic in TOPICS for question in topic.questions if question.masked]

    assert len(TOPICS) == 6
    assert len(masked) == 2


def test_a_topic_has_about_ten_sub_questions_all_different() -> None:
    for topic in TOPICS:
        asked = [question.text for question in topic.asked]

        assert 9 <= len(asked) <= 11
        assert len(set(asked)) == len(asked)
        assert all(text.endswith("?") for text in asked)


def test_passages_are_short_and_grade_only_questions_that_are_asked() -> None:
    for topic in TOPICS:
        asked = {question.element_id for question in topic.asked}

        assert len(topic.passages) >= 6
        for passage in topic.passages.values():
            assert 75 <= n_words(passage.text) <= 165, passage.passage_id
            assert set(passage.grades) <= asked
            assert set(passage.grades.values()) <= {1, 2, 3, 4, 5}


def test_every_sub_question_is_answered_by_some_passage() -> None:
    for topic in TOPICS:
        for question in topic.asked:
            best = max(passage.grades.get(question.element_id, 0) for passage in topic.passages.values())

            assert best >= 4, question.text


def test_some_passage_is_of_little_use() -> None:
    """Redundant, partly relevant and irrelevant passages are what a rating needs."""
    for topic in TOPICS:
        partly = [
            passage for passage in topic.passages.values() if any(1 <= grade <= 3 for grade in passage.grades.values())
        ]

        assert len(partly) >= 3


def test_the_quotes_of_key_points_stand_once_in_their_passages() -> None:
    for topic in TOPICS:
        for key_point in topic.key_points.values():
            assert key_point.grounded_in <= set(key_point.spans)
            for passage_id, quote in key_point.spans.items():
                assert topic.passages[passage_id].text.count(quote) == 1, quote


def test_some_key_points_are_not_grounded_and_some_do_not_belong() -> None:
    for topic in TOPICS:
        key_points = topic.key_points.values()

        assert any(not key_point.grounded_in for key_point in key_points)
        assert any(key_point.grounded_in and key_point.utility < 1 for key_point in key_points)


def test_a_report_is_of_readable_length() -> None:
    for _, report in REPORTS:
        assert 150 <= n_words(report.text) <= 260


def test_the_quotes_of_a_report_stand_once_in_it() -> None:
    for _, report in REPORTS:
        quotes = [quote for several in report.answers.values() for quote in several]
        quotes += [*report.near_misses.values(), *(mistake.quote for mistake in report.mistakes)]

        for quote in quotes:
            assert report.text.count(quote) == 1, quote


def test_what_a_report_answers_or_misses_is_asked() -> None:
    for topic, report in REPORTS:
        asked = {question.element_id for question in topic.asked}

        assert set(report.answers) | set(report.near_misses) <= asked
        assert not set(report.answers) & set(report.near_misses)


def test_a_ranking_names_passages_that_exist_once_each() -> None:
    known = {passage_id for each in TOPICS for passage_id in each.passages}

    for _, report in REPORTS:
        assert set(report.ranking) <= known
        assert len(set(report.ranking)) == len(report.ranking)


def test_every_passage_is_ranked_by_some_system() -> None:
    for topic in TOPICS:
        ranked = {passage_id for report in topic.reports.values() for passage_id in report.ranking}

        assert set(topic.passages) <= ranked


def test_the_three_systems_differ_in_what_they_answer() -> None:
    harbour, lantern, quill = (coverage(system) for system in FAMILIES)

    assert mean(harbour) > 0.85
    assert 0.4 < mean(lantern) < 0.6
    assert 0.1 < mean(quill) < 0.3
    assert all(a > b > c for a, b, c in zip(harbour, lantern, quill, strict=True))


def test_texts_hold_no_placeholder() -> None:
    for line in collection_lines():
        assert not re.search(r"TODO|FIXME|XXX|lorem ipsum", repr(line), re.IGNORECASE)


def test_some_text_leaves_ascii_and_the_basic_plane() -> None:
    """Offsets are only put to the test by characters that take more than one unit."""
    texts = [report.text for _, report in REPORTS]

    assert any(ord(character) > 0xFFFF for text in texts for character in text)
    assert any(0x7F < ord(character) < 0x300 for text in texts for character in text)
