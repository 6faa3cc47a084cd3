"""What is published without one grade a person: votes of at least m of r people, and gold passages of a collection."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from collection.models import Judgment, RankedPassage, Run, Study, Topic, User
from evaluation.publishing.gold_qrels import gold_sources
from evaluation.publishing.qrels import compile_each, compile_qrels
from stats.qrels import QrelsRefused, Rule, combine_grades
from tests.evaluation.judged import AT, a_ranking, criterion_of, judge_items, passage_items
from tests.factories import a_user, rater_of

NAN = float("nan")
# Three people, one a row: at least two of three say relevant (2 or more) of the first and the fourth.
GRADES = np.array([[3, 2, 0], [3, 1, 1], [0, 0, 0], [2, 3, 3], [3, 3, NAN], [3, NAN, NAN]])


def test_a_label_by_votes_is_the_grade_that_so_many_reach() -> None:
    scale = np.array([0.0, 1, 2, 3])

    two_of_three = combine_grades(GRADES, scale, Rule(combine="votes", votes=2, fewest_raters=3))
    two_of_any = combine_grades(GRADES, scale, Rule(combine="votes", votes=2))
    all_of_three = combine_grades(GRADES, scale, Rule(combine="votes", votes=3))
    one = combine_grades(GRADES, scale, Rule(combine="votes", votes=1))

    np.testing.assert_array_equal(two_of_three.grades, [2, 1, 0, 3, NAN, NAN])
    np.testing.assert_array_equal(two_of_any.grades, [2, 1, 0, 3, 3, NAN])
    np.testing.assert_array_equal(all_of_three.grades, [0, 1, 0, 2, NAN, NAN])
    np.testing.assert_array_equal(one.grades, combine_grades(GRADES, scale, Rule(combine="highest")).grades)
    assert two_of_three.n_tied == 0


@pytest.fixture
def voted(study: Study) -> Study:
    """Three people rated four items, two sub-questions on one passage of each topic."""
    items = passage_items(study)
    given: dict[str, list[float | None]] = {"ada": [5, 1, 2, 0], "ben": [4, 1, 3, 0], "cy": [0, 1, 0, None]}
    for name, grades in given.items():
        judge_items(criterion_of(study, "rating"), rater_of(a_user(name)), items, grades)
    return study


def test_at_least_two_of_three_people_make_qrels(voted: Study) -> None:
    rule = Rule(combine="votes", votes=2, fewest_raters=3, binary_at=3, per_element=True)

    qrels = compile_qrels(criterion_of(voted, "rating"), rule=rule, at=AT)

    assert qrels.lines == ("t0/t0-q0 0 t0-p0 1", "t0/t0-q1 0 t0-p0 0", "t1/t1-q0 0 t1-p0 0")
    assert qrels.provenance["counts"]["items_with_too_few_raters"] == 1
    assert qrels.provenance["rule"]["raters"] == "the highest grade that at least 2 of them reach"
    assert qrels.provenance["rule"]["fewest_raters"] == "at least 3 an item"


def test_more_votes_than_people_say_what_is_missing(voted: Study) -> None:
    with pytest.raises(QrelsRefused, match="graded by at least 4 of these raters"):
        compile_qrels(criterion_of(voted, "rating"), rule=Rule(combine="votes", votes=4), at=AT)


@pytest.fixture
def marked(voted: Study) -> Study:
    """Topic t0 names its gold passages; t1 has no answer; a run named “gold” ranks one passage for each."""
    Topic.objects.filter(topic_id="t0").update(attributes={"passages": ["t0-p1", "t0-p0"]})
    Topic.objects.filter(topic_id="t1").update(attributes={"answerable": False})
    run = a_ranking(voted, {"t0": ["t0-p0", "t0-p9"]})
    Run.objects.filter(pk=run.pk).update(name="bm25")
    gold = Run.objects.create(collection=voted.collection, system=run.system, name="gold")
    for topic in Topic.objects.all():
        RankedPassage.objects.create(run=gold, topic=topic, passage_id=f"{topic.topic_id}-p0", rank=1, score=1)
    return voted


def test_gold_passages_are_qrels_without_a_judgment(marked: Study) -> None:
    criterion = criterion_of(marked, "rating")
    assert Judgment.objects.exists()

    named = compile_qrels(criterion, gold="topics", holes_at=2, at=AT)
    ranked = compile_qrels(criterion, gold="gold", at=AT)

    assert named.text == "t0 0 t0-p0 1\nt0 0 t0-p1 1\n"
    assert {found.run: found.judged_at_k for found in named.holes}["bm25"] == 0.5
    assert ranked.lines == ("t0 0 t0-p0 1",)  # t1 has no answer, so no passage is gold
    assert ranked.provenance["counts"]["topics_without_an_answer"] == 1
    assert ranked.provenance["raters"] == []
    assert ranked.whose == "gold"
    assert ranked.provenance["gold"]["caveat"].startswith("“gold” ranks nothing but these passages")
    assert "“gold” ranks nothing but" in named.provenance["gold"]["caveat"]  # bm25 ranks another one too
    assert [value for value, _ in gold_sources(marked.collection)] == ["topics", "gold", "bm25"]


def test_what_marks_nothing_is_refused(marked: Study) -> None:
    criterion = criterion_of(marked, "rating")
    with pytest.raises(QrelsRefused, match="no run “nobody”"):
        compile_qrels(criterion, gold="nobody", at=AT)
    with pytest.raises(QrelsRefused, match="nobody’s judgments"):
        compile_each(criterion, gold="topics", at=AT)
    Topic.objects.update(attributes={})
    with pytest.raises(QrelsRefused, match="No topic has gold passages"):
        compile_qrels(criterion, gold="topics", at=AT)


def test_page_api_and_command_take_votes_and_gold(marked: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    asked = {"criterion": "rating", "gold": "topics"}
    printed, noted = StringIO(), StringIO()
    call_command("export_qrels", study=marked.name, criterion="rating", gold="topics", stdout=printed, stderr=noted)

    page = client.get(f"/studies/{marked.name}/qrels/", asked)
    file = client.get(f"/studies/{marked.name}/qrels/file/", asked)
    api = client.get(f"/api/v1/studies/{marked.name}/qrels/", asked).json()
    votes: dict[str, str | int] = {"criterion": "rating", "combine": "votes", "votes": 3, "binary_at": 1}
    by_votes = client.get(f"/api/v1/studies/{marked.name}/qrels/", votes).json()

    assert file.content.decode() == api["qrels"] == printed.getvalue() == "t0 0 t0-p0 1\nt0 0 t0-p1 1\n"
    assert "Nobody judged them here" in page.content.decode()
    assert "leave it out of a comparison" in page.content.decode()
    assert "without an answer" in noted.getvalue()
    assert "leave it out of a comparison" in noted.getvalue()
    assert by_votes["qrels"] == "t0 0 t0-p0 1\nt1 0 t1-p0 0\n"
    assert client.get(f"/studies/{marked.name}/qrels/", votes | {"votes": 0}).status_code == 422
