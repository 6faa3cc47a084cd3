"""Where a rater errs: page, files, API and command say the same, and open the items behind each number."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Item, Rater, Split, Study, User
from collection.splits import TestPartLocked, make_split
from evaluation.agreement.errors.items import error_items
from evaluation.agreement.errors.raters import RaterNotFound
from evaluation.agreement.errors.report import NoSuchCell, measure_errors
from evaluation.data.visibility import read_test_part
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.evaluation.sampled import sampled
from tests.factories import a_judge_rater

__all__ = ["sampled"]

PAGE = "/studies/bridges-study/errors/"
ITEMS = f"{PAGE}items/"
API = "/api/v1/studies/bridges-study/errors/"
QUERY = {"criterion": "answerability"}


def test_counts_a_judge_beside_the_majority_of_people(judged: Study) -> None:
    found = measure_errors(criterion_of(judged))

    # Ada 1 1 0 0 1 0, Ben 1 0 0 0 1 1: expected 1 0 0 0 1 0, with two ties; the judge 1 1 0 1 None 0.
    assert {(row, cell.given): cell.n for row, cells in found.matrix for cell in cells} == {
        ("no", "no"): 2, ("no", "yes"): 2, ("no", "ungraded"): 0,
        ("yes", "no"): 0, ("yes", "yes"): 1, ("yes", "ungraded"): 1,
    }  # fmt: skip
    assert (found.name, found.against, found.n_tied) == ("small-judge", "people", 2)
    assert (found.direction.n_wrong, found.direction.n_ungraded) == (3, 1)


def test_an_assessor_is_held_against_the_others(judged: Study) -> None:
    found = measure_errors(criterion_of(judged), rater="ada")

    assert found.reference == "people’s majority, ties to the lower grade, without ada"
    assert (found.direction.n, found.direction.n_wrong, found.n_tied) == (6, 2, 0)


def test_any_two_raters_can_be_compared(judged: Study) -> None:
    found = measure_errors(criterion_of(judged), rater="small-judge", against="ben", by="grades")

    assert found.given_labels == ("0", "1", "ungraded")
    assert found.direction.n_wrong == 4
    assert "where ben said" in found.answer or "than ben" in found.answer


def test_a_cell_holds_its_items_with_what_everybody_said(judged: Study) -> None:
    found = measure_errors(criterion_of(judged))

    items = error_items(found, found.rows_of(expected="no", given="yes").tolist())

    assert [(one.expected, one.given, dict(one.people)) for one in items] == [
        ("no", "yes", {"ada": 1, "ben": 0}),
        ("no", "yes", {"ada": 0, "ben": 0}),
    ]
    assert all(one.text and one.question and one.wrong for one in items)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"rater": "carl"}, "“carl” has not judged here. Choose one of:"),
        ({"rater": "ada", "against": "ada"}, "“ada” agrees with itself"),
        ({"against": "carl"}, "“carl” has not judged here"),
    ],
)
def test_a_wrong_name_is_told(judged: Study, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(RaterNotFound, match=says):
        measure_errors(criterion_of(judged), **asked)


def test_a_cell_that_is_none_is_told(judged: Study) -> None:
    with pytest.raises(NoSuchCell, match="“maybe” is no row or column here"):
        measure_errors(criterion_of(judged)).rows_of(expected="maybe")


def test_a_rater_called_people_is_told_from_people(judged: Study) -> None:
    judge_items(
        criterion_of(judged), a_judge_rater(judged.collection, "people"), list(judged.items.order_by("pk")), [1] * 6
    )

    assert "people (answerability)" in [one.name for one in measure_errors(criterion_of(judged)).choices]


def test_page_api_and_command_say_the_same(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    out = StringIO()

    page = client.get(PAGE, QUERY).content.decode()
    answer = client.get(API, QUERY).json()
    call_command("errors", study=sampled.name, criterion="answerability", json=True, stdout=out)
    download = client.get(f"{PAGE}errors.json", QUERY).json()

    assert answer == json.loads(out.getvalue()) == download
    assert answer["answer"] in page
    assert "stork-7b beside people" in page


def test_the_errors_leave_as_csv_jsonl_api_and_command(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    out = StringIO()

    rows = list(csv.DictReader(StringIO(b"".join(client.get(f"{PAGE}items.csv", QUERY)).decode())))
    lines = [json.loads(line) for line in b"".join(client.get(f"{PAGE}items.jsonl", QUERY)).decode().splitlines()]
    answer = client.get(f"{API}items/", QUERY).json()
    call_command("errors", study=judged.name, criterion="answerability", items=True, stdout=out)

    assert lines == answer["results"] == [json.loads(line) for line in out.getvalue().splitlines()]
    assert answer["count"] == len(rows) == 3
    assert [row["grade of ada"] for row in rows] == ["1", "0", "1"]
    assert [(one["expected"], one["given"]) for one in lines] == [("no", "yes"), ("no", "yes"), ("yes", None)]


def test_cells_are_read_a_page_at_a_time(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    found = measure_errors(criterion_of(sampled))
    n = next(cell.n for _, cells in found.matrix for cell in cells if cell.n > 10)
    cell = next(cell for _, cells in found.matrix for cell in cells if cell.n == n)
    asked = QUERY | {"expected": cell.expected, "given": cell.given}

    first = client.get(ITEMS, asked).content.decode()
    second = client.get(ITEMS, asked | {"page": "2"}).content.decode()

    assert first.count("error-item") == 10
    assert 'rel="next"' in first
    assert 'rel="prev"' in second


def test_reading_a_cell_takes_as_many_queries_whatever_its_size(
    client: Client, sampled: Study, rosa: User, django_assert_max_num_queries: object
) -> None:
    client.force_login(rosa)
    client.get(ITEMS, QUERY)

    with django_assert_max_num_queries(45):  # type: ignore[operator]
        client.get(ITEMS, QUERY)


def test_a_stranger_finds_nothing(client: Client, judged: Study, mallory: User) -> None:
    addresses = [PAGE, ITEMS, f"{PAGE}errors.json", f"{PAGE}items.csv", f"{PAGE}confusion.csv", API]
    client.force_login(mallory)

    assert {address: client.get(address, QUERY).status_code for address in addresses} == dict.fromkeys(addresses, 404)


@pytest.mark.parametrize("address", [ITEMS, f"{PAGE}errors.json", f"{PAGE}items.csv"])
def test_a_wrong_choice_is_not_found(client: Client, judged: Study, rosa: User, address: str) -> None:
    client.force_login(rosa)

    assert client.get(address, QUERY | {"rater": "carl"}).status_code == 404
    assert client.get(address, QUERY | {"by": "shape"}).status_code == 404


def test_the_page_says_what_is_wrong(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get(PAGE, QUERY | {"rater": "carl"})

    assert response.status_code == 422
    assert "“carl” has not judged here" in response.content.decode()


def test_the_command_refuses_a_wrong_name(judged: Study) -> None:
    with pytest.raises(CommandError, match="“carl” has not judged here"):
        call_command("errors", study=judged.name, criterion="answerability", rater="carl")


def test_items_may_become_examples_only_of_development_topics(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    before = client.get(ITEMS, QUERY).content.decode()

    make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")
    after = client.get(ITEMS, QUERY).content.decode()

    assert 'name="example_items"' not in before
    assert "a prompt must not be tested on" in before
    held_out = Item.objects.filter(topic__in=sampled.split.topics.filter(part="test").values("topic"))
    assert 'name="example_items"' in after
    assert not any(f'value="{item}"' in after for item in held_out.values_list("item_id", flat=True))


def test_items_that_another_study_tests_on_are_counted_and_not_shown(
    client: Client, sampled: Study, rosa: User
) -> None:
    other = Study.objects.create(collection=sampled.collection, name="other", title="Other", created_by=rosa)
    split = make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")
    Split.objects.filter(pk=split.pk).update(study=other)
    hidden = set(split.topics.filter(part="test").values_list("topic", flat=True))
    client.force_login(rosa)

    found = measure_errors(criterion_of(sampled))
    among_people = measure_errors(criterion_of(sampled), rater="ada", against="stork-7b")
    page = client.get(ITEMS, QUERY).content.decode()

    assert hidden & set(found.topics.tolist())
    for one in (found, among_people):
        assert not hidden & {item.item.topic_id for item in error_items(one, one.rows_of().tolist())}
    assert "are counted and not shown" in page


def test_the_test_part_shows_the_judges_that_were_unlocked_there_alone(sampled: Study, rosa: User) -> None:
    make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")
    criterion, other = criterion_of(sampled), a_judge_rater(sampled.collection, "owl-70b")
    items = list(sampled.items.order_by("pk"))
    judge_items(criterion, other, items, [1] * len(items))
    with pytest.raises(TestPartLocked):
        measure_errors(criterion, part="test")
    read_test_part(sampled, other, by=rosa, at=AT)

    found = measure_errors(criterion, part="test")

    assert (found.name, found.visibility.part) == ("owl-70b", "test")
    assert "stork-7b" not in [one.name for one in found.choices]
    with pytest.raises(RaterNotFound, match="“stork-7b” has not judged here, or its test topics are locked"):
        measure_errors(criterion, rater="stork-7b", part="test")


def test_a_judge_s_reply_stands_beside_its_error(judged: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    found = measure_errors(criterion_of(judged))
    wrong = found.rows_of().tolist()
    judge = Rater.objects.get(name="small-judge")

    def told(rater: Rater, _: object, items: list[int]) -> dict[int, str]:
        assert rater == judge
        return dict.fromkeys(items, "Because it says so.\n1")

    monkeypatch.setattr("evaluation.agreement.errors.items.replies_of", told)

    assert {one.reply for one in error_items(found, wrong)} == {"Because it says so.\n1"}


def test_the_page_shows_the_reply_as_it_came_beside_its_reason_and_names_the_prompt(
    client: Client, judged: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_shipped()
    criterion = criterion_of(judged)
    prompt = PromptTemplate.objects.get(name="answerability")
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="owl",
        template=prompt,
        task_type=criterion.task_type,
        criterion_name=criterion.name,
        scale=criterion.scale,
    )
    judge_items(criterion, judge.rater, list(judged.items.order_by("pk")), [0] * 6)
    for words, said in (
        ("evaluation.agreement.errors.items.replies_of", "It does.\n0"),
        ("judging.data.reasons.reasons_of", "It does."),
    ):
        monkeypatch.setattr(words, lambda _, __, items, said=said: dict.fromkeys(items, said))
    client.force_login(rosa)

    page = client.get(ITEMS, QUERY | {"rater": judge.name}).content.decode()

    assert f"Reason of {judge.name}" in page
    assert '<div class="verbatim">It does.\n0</div>' in page
    assert f'<a href="/judges/templates/{prompt.name}/{prompt.version}/">{prompt}</a>' in page
    assert "Prompt of" not in client.get(ITEMS, QUERY | {"rater": "small-judge"}).content.decode()
