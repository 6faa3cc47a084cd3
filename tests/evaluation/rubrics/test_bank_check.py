"""A bank of questions beside people's relevance: page, command, API and files."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.importing.trec import relevance_criterion_of
from collection.masking import mask_elements
from collection.models import Item, Judgment, Passage, Rater, RubricElement, Study, User
from collection.models.studies import TaskType
from collection.splits import make_split
from evaluation.rubrics.bank_check import BankCheck, check_bank
from tests.evaluation.judged import AT, judge_items
from tests.evaluation.ranked import three_systems
from tests.factories import a_study

PAGE = "/studies/bridges-study/bank-check/"
API = "/api/v1/studies/bridges-study/bank-check/"
ASKED = {"source": "small-judge"}


@pytest.fixture
def labelled(study: Study, ada_as_rater: Rater) -> Study:
    """The judge grades passage n with 5 on question n, the last one ungraded but on t5: 0. People: p1 not relevant."""
    judge = three_systems(study, [ada_as_rater])
    last = Judgment.objects.filter(rater=judge, item__passage__passage_id="t5-p2", grade=None)
    assert last.update(grade=0, ungraded="") == 1
    items = [
        Item(study=study, task_type=TaskType.RELEVANCE, item_id=f"relevance/{passage}", topic=topic, passage=passage)
        for topic in study.collection.topics.order_by("pk")
        for passage in Passage.objects.filter(passage_id__startswith=f"{topic.topic_id}-p").order_by("passage_id")
    ]
    Item.objects.bulk_create(items)
    judge_items(relevance_criterion_of(study), ada_as_rater, items, [2, 0, 1] * 6)
    return study


def by_judge(study: Study, **options: Any) -> BankCheck:
    return check_bank(study, source="small-judge", **options)


def test_a_question_that_only_irrelevant_passages_answer_is_bad(labelled: Study) -> None:
    check = by_judge(labelled)
    found, tables = check.graded, check.tables()

    assert found is not None
    bad = tables["questions"].where(mostly=True)
    assert [(row["topic"], row["question"], row["wrongly"]) for row in bad.file_dicts()] == [
        (f"t{number}", f"t{number}-q1", 1) for number in range(6)
    ]
    assert found.states == {"covered": 6, "uncovered": 1, "unknown": 5, "ungraded": 0}
    assert [row["passage"] for row in tables["passages"].where(state="uncovered").file_dicts()] == ["t5-p2"]
    assert (found.wrongly.value, found.missed.value) == (6 / 18, 1 / 7)
    assert (found.n_graded, found.n_labelled) == (18, 18)
    assert "6 of 18 questions are mostly graded 4 or more" in found.answer


def test_questions_asked_twice_are_found_within_a_topic_and_masked_ones_are_not(labelled: Study, rosa: User) -> None:
    before = by_judge(labelled).duplicates
    element = RubricElement.objects.get(topic__topic_id="t3", kind="sub_question", position=0)
    mask_elements(elements=[element], reason="asked twice", by=rosa, at=AT)

    assert len(before) == 3 * 4
    assert len(by_judge(labelled).duplicates) == 3 * 3 + 1
    assert by_judge(labelled, likeness=0.8).n_elements == before_masking(labelled) - 1


def before_masking(study: Study) -> int:
    return RubricElement.objects.filter(topic__collection=study.collection).count()


def test_test_topics_are_left_out_and_what_another_study_tests_on_is_not_listed(labelled: Study) -> None:
    other = a_study(labelled.collection, name="other", task_types=["rating"])
    topic = labelled.collection.topics.get(topic_id="t5")
    Item.objects.create(
        study=other, task_type="rating", item_id="x", topic=topic, element=topic.rubric_elements.first(),
        passage=Passage.objects.get(passage_id="t5-p0"),
    )  # fmt: skip
    more = labelled.collection.topics.get(topic_id="t4")
    Item.objects.create(
        study=other, task_type="rating", item_id="y", topic=more, element=more.rubric_elements.first(),
        passage=Passage.objects.get(passage_id="t4-p0"),
    )  # fmt: skip
    split = make_split(study=other, test_share=0.5, by=None, at=AT, seed="1")
    [hidden] = split.topics.filter(part="test").values_list("topic__topic_id", flat=True)

    elsewhere = by_judge(labelled)
    make_split(study=labelled, test_share=0.5, by=None, at=AT, seed="1")
    here = by_judge(labelled).graded

    assert elsewhere.graded is not None
    assert here is not None
    assert elsewhere.graded.n_bad == 6
    assert hidden not in {row[0] for row in elsewhere.tables()["questions"].rows}
    assert here.visibility.part == "development"
    assert here.n_checked == 9


def test_page_api_command_and_files_show_the_same(client: Client, labelled: Study, rosa: User) -> None:
    client.force_login(rosa)
    printed, as_json = StringIO(), StringIO()

    page = client.get(PAGE, ASKED).content.decode()
    answer = client.get(API, ASKED).json()
    table = client.get(f"{PAGE}questions.csv", ASKED).content.decode()
    call_command("bank_check", "--study", "bridges-study", "--source", "small-judge", stdout=printed)
    call_command("bank_check", "--study", "bridges-study", "--source", "small-judge", "--json", stdout=as_json)

    found = by_judge(labelled)
    assert found.graded is not None
    assert found.graded.answer in page
    assert "Bad questions: 6 of 18" in page
    assert "/studies/bridges-study/graded-passage/?topic=t5&amp;passage=t5-p2" in page
    assert answer == json.loads(as_json.getvalue()) == json.loads(json.dumps(found.as_dict()))
    assert found.graded.answer in printed.getvalue()
    assert len(list(csv.reader(StringIO(table)))) == 1 + 18


def test_options_that_do_not_fit_are_refused_with_what_there_is(client: Client, labelled: Study, rosa: User) -> None:
    client.force_login(rosa)

    wrong = [
        client.get(PAGE, {"source": "nobody"}),
        client.get(PAGE, {"minimum": "9"}),
        client.get(PAGE, {"likeness": "x"}),
    ]

    assert [one.status_code for one in wrong] == [422, 422, 422]
    assert client.get(API, {"minimum": "9"}).status_code == 400
    assert client.get(f"{PAGE}nothing.csv").status_code == 404
    with pytest.raises(CommandError, match="highest is 5"):
        call_command("bank_check", "--study", "bridges-study", "--minimum", "9")


def test_the_page_says_that_a_simulation_judged(client: Client, labelled: Study, rosa: User) -> None:
    client.force_login(rosa)

    before = client.get(PAGE).content.decode()
    Rater.objects.filter(kind=Rater.Kind.ASSESSOR).update(origin="simulated", source="a coin")

    assert "made by a simulation" not in before
    assert "made by a simulation" in client.get(PAGE, ASKED).content.decode()


def test_without_relevance_the_page_says_so_and_finds_duplicates(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)
    an_element = RubricElement.objects.filter(topic__collection=study.collection, kind="sub_question").first()
    assert an_element
    Item.objects.create(
        study=study, task_type="rating", item_id="x", topic=an_element.topic, element=an_element,
        passage=Passage.objects.first(),
    )  # fmt: skip

    page = client.get(PAGE, {"likeness": "0.8"}).content.decode()

    assert "Questions cannot be checked against relevance yet" in page
    assert "Duplicates: 4" in page
