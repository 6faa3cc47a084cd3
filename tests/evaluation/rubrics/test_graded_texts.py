"""A passage's questions by rater, and an answer's passages with the questions they answer: pages and API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from collection.models import Highlight, Judgment, Rater, Study, User
from collection.splits import make_split
from evaluation.rubrics.graded_texts import graded_answer, graded_passage
from stats.ranking.measure_names import NoLeaderboard
from tests.evaluation.judged import AT
from tests.evaluation.ranked import three_systems

PASSAGE = "/studies/bridges-study/graded-passage/"
ANSWER = "/studies/bridges-study/graded-answer/"
API = "/api/v1/studies/bridges-study/"
OF_PASSAGE: dict[str, Any] = {"topic": "t2", "passage": "t2-p2"}
OF_ANSWER: dict[str, Any] = {"source": "small-judge", "run": "middle", "topic": "t2"}


@pytest.fixture
def rated(study: Study, ada_as_rater: Rater) -> Study:
    """Passage n has 5 on question n by ada and the judge, whose reply about p2 on question 2 is unreadable."""
    judge = three_systems(study, [ada_as_rater])
    judgment = Judgment.objects.get(rater=judge, item__passage__passage_id="t2-p2", item__element__element_id="t2-q0")
    Highlight.objects.create(judgment=judgment, purpose=Highlight.Purpose.RATIONALE, quote="It <b>never</b> says so.")
    return study


def test_a_passage_has_its_questions_by_rater_with_reasons_and_what_is_ungraded(rated: Study) -> None:
    found = graded_passage(rated, **OF_PASSAGE)

    assert [one.name for one in found.raters] == ["ada", "small-judge"]
    grades = [[cell.grade if cell else "unasked" for cell in row.said] for row in found.rows]
    assert grades == [[0, 0], [0, 0], [5, None]]
    assert [cell.ungraded for cell in found.rows[2].said if cell] == ["", "unreadable"]
    assert [(row.number, said[0][0], said[0][1].reason) for row, said in found.reasons] == [
        (1, "small-judge", "It <b>never</b> says so.")
    ]
    assert found.answer == (
        "At grade 3 or more, this passage answers 1 of 3 questions by ada and 0 of 2 questions by small-judge."
    )


def test_an_answer_has_its_passages_in_order_with_the_questions_that_each_answers(rated: Study) -> None:
    found = graded_answer(rated, **OF_ANSWER)

    assert [(one.rank, one.passage, one.answers, one.missing) for one in found.passages] == [
        (1, "t2-p1", ((2, 5.0),), 0),
        (2, "t2-p2", (), 1),
    ]
    assert [(number, ranks) for number, _, _, ranks in found.questions] == [(1, ()), (2, (1,)), (3, ())]
    assert found.cover == pytest.approx(1 / 3)
    assert "1 of the first 2 passages of middle answers a question at grade 3 or more" in found.answer
    assert "1 of 3 questions is answered; 1 of 6 grades is missing." in found.answer


def test_the_grade_from_which_on_a_question_is_answered_and_the_depth_are_chosen(rated: Study) -> None:
    found = graded_answer(rated, minimum=0, k=1, **OF_ANSWER)

    assert [one.answers for one in found.passages] == [((1, 0.0), (2, 5.0), (3, 0.0))]
    assert found.n_ranked == 2


def test_test_topics_are_not_shown(rated: Study) -> None:
    split = make_split(study=rated, test_share=0.5, by=None, at=AT, seed="1")
    tested = split.topics.filter(part="test").values_list("topic__topic_id", flat=True)

    found = graded_answer(rated, source="small-judge")

    assert not set(tested) & set(found.topics)
    with pytest.raises(NoLeaderboard, match="not shown"):
        graded_passage(rated, topic=tested[0], passage=f"{tested[0]}-p0")


@pytest.mark.parametrize(
    ("page", "api", "asked", "says"),
    [
        (PASSAGE, f"{API}graded-passage/", OF_PASSAGE, "It &lt;b&gt;never&lt;/b&gt; says so."),
        (ANSWER, f"{API}graded-answer/", OF_ANSWER, 'href="#question-2">Q2'),
    ],
)
def test_page_and_api_show_it(
    client: Client, rated: Study, rosa: User, page: str, api: str, asked: dict[str, Any], says: str
) -> None:
    client.force_login(rosa)

    shown = client.get(page, asked).content.decode()
    answer = client.get(api, asked).json()

    found = graded_passage(rated, **asked) if page == PASSAGE else graded_answer(rated, **asked)
    assert says in shown
    assert found.answer in shown
    assert answer == json.loads(json.dumps(found.as_dict()))


def test_what_is_not_there_is_refused(client: Client, rated: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PASSAGE).status_code == 422
    assert client.get(PASSAGE, {"topic": "t2", "passage": "nothing"}).status_code == 422
    assert client.get(ANSWER, {"run": "nobody’s"}).status_code == 422
    assert client.get(ANSWER, {"k": "0"}).status_code == 422
    assert client.get(f"{API}graded-answer/", {"run": "nobody’s"}).status_code == 400
    assert client.get(f"{API}graded-passage/", {"topic": "t2"}).status_code == 400


def test_without_graded_passages_the_page_says_so(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(ANSWER)

    assert page.status_code == 200
    assert "No ranked passages are graded yet" in page.content.decode()
