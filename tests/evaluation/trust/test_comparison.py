from __future__ import annotations

import json
import re
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Item, Study, User
from evaluation.trust.comparison import compare_judges_of
from stats.judges.side_by_side import ONE_JUDGE, compare_judges
from tests.evaluation.judged import criterion_of, judge_items
from tests.evaluation.sampled import sampled
from tests.factories import a_judge_rater

__all__ = ["sampled"]

PAGE = "/studies/bridges-study/judge-comparison/"
API = "/api/v1/studies/bridges-study/judge-comparison/"
QUERY = {"criterion": "answerability"}


@pytest.fixture
def three_judges(sampled: Study) -> Study:
    """Beside stork-7b: one that says what Ada says and else no, one that says the opposite, and one of three items."""
    criterion = criterion_of(sampled)
    items = list(Item.objects.filter(study=sampled).order_by("pk"))
    said = {one.item_id: one.grade for one in criterion.judgments.filter(rater__name="ada")}
    good = [said.get(item.pk, 0.0) for item in items]
    judge_items(criterion, a_judge_rater(sampled.collection, "owl-70b"), items, good)
    judge_items(
        criterion,
        a_judge_rater(sampled.collection, "parrot-1b"),
        items,
        [None if grade is None else 1 - grade for grade in good],
    )
    few = [item for item in items if item.pk in said][:3]
    judge_items(criterion, a_judge_rater(sampled.collection, "wren-3b"), few, [1.0, 1.0, 0.0])
    return sampled


def test_compares_judges_without_a_split(three_judges: Study) -> None:
    found = compare_judges_of(criterion_of(three_judges))

    by_name = {one.name: one for one in found.judges}
    assert [one.name for one in found.judges] == ["owl-70b", "stork-7b", "parrot-1b"]
    assert (found.best, found.against, found.n_items, found.n_topics) == ("owl-70b", "owl-70b", 60, 10)
    assert not found.development
    assert by_name["owl-70b"].difference is None
    assert by_name["parrot-1b"].told_apart
    assert (by_name["parrot-1b"].high or 0) < 0
    assert found.corrected.value is not None
    assert found.corrected.value <= (by_name["owl-70b"].kappa.value or 0)


def test_a_judge_of_few_items_takes_none_from_the_others_and_is_named(three_judges: Study) -> None:
    found = compare_judges_of(criterion_of(three_judges))

    assert found.left_out == ("wren-3b (3 of 60 items)",)


def test_page_api_and_command_say_the_same(client: Client, three_judges: Study, rosa: User) -> None:
    client.force_login(rosa)
    out = StringIO()

    page = client.get(PAGE, QUERY).content.decode()
    answer = client.get(API, QUERY).json()
    call_command("compare_judges", study=three_judges.name, criterion="answerability", json=True, stdout=out)
    download = client.get(f"{PAGE}judges.json", QUERY).json()

    assert answer == json.loads(out.getvalue()) == download
    assert f"κ corrected for the choice {answer['best_corrected']['value']:.2f}" in page
    assert all(sentence in page for sentence in answer["answer"])
    assert "wren-3b (3 of 60 items)" in page


def test_nobody_is_the_best_where_the_highest_kappa_has_no_interval(three_judges: Study) -> None:
    """People say yes to a fifth of 60 items; one judge to one less, two others to more."""
    criterion = criterion_of(three_judges)
    items = list(Item.objects.filter(study=three_judges, judgments__rater__name="ada").order_by("pk"))
    fifth = items[::5]
    criterion.judgments.filter(rater__kind="assessor").update(grade=0)
    criterion.judgments.filter(rater__kind="assessor", item__in=fifth).update(grade=1)
    for name, yes in {"rare": fifth[1:], "often": fifth + items[1::7], "oftener": fifth + items[1::4]}.items():
        grades: list[float | None] = [float(item in yes) for item in items]
        judge_items(criterion, a_judge_rater(three_judges.collection, name), items, grades)

    found = compare_judges_of(criterion, judge=["rare", "often", "oftener"])

    assert [one.name for one in found.judges] == ["rare", "often", "oftener"]
    assert (found.best, found.against, found.corrected.low) == ("rare", "often", None)
    assert [one.difference is None for one in found.judges] == [True, True, False]


def test_a_judge_without_an_interval_may_be_as_good_as_the_best(three_judges: Study) -> None:
    criterion = criterion_of(three_judges)
    items = list(Item.objects.filter(study=three_judges, judgments__rater__name="ada").order_by("pk"))
    no: list[float | None] = [float(number == 0) for number in range(len(items))]
    judge_items(criterion, a_judge_rater(three_judges.collection, "rare"), items, no)

    found = compare_judges_of(criterion)

    assert (found.best, found.best_is_named) == ("owl-70b", True)
    assert "rare" in (found.maybe_as_good or [])


def test_differences_can_be_taken_to_any_judge(client: Client, three_judges: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = client.get(API, {**QUERY, "against": "stork-7b"}).json()
    unknown = client.get(API, {**QUERY, "against": "nobody"})

    owl = next(one for one in answer["judges"] if one["judge"] == "owl-70b")
    assert (answer["best"], answer["against"]) == ("owl-70b", "stork-7b")
    assert owl["difference"]["value"] > 0
    assert unknown.status_code == 400
    assert "Choose one of: owl-70b, parrot-1b, stork-7b" in unknown.content.decode()


def test_the_command_prints_who_is_told_apart(three_judges: Study) -> None:
    out = StringIO()

    call_command("compare_judges", study=three_judges.name, criterion="answerability", stdout=out)

    printed = out.getvalue()
    assert "owl-70b agrees most" in printed
    assert all(re.search(rf"^ *{judge} .*\d\.\d{{4}}", printed, re.M) for judge in ("owl-70b", "parrot-1b", "stork-7b"))
    with pytest.raises(CommandError, match="“nobody” is not compared here"):
        call_command("compare_judges", study=three_judges.name, criterion="answerability", against="nobody")


def test_one_judge_was_not_chosen(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, QUERY).content.decode()

    assert ONE_JUDGE in page


def test_without_a_judge_the_page_says_so(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "No judge can be compared with humans yet" in client.get(PAGE, QUERY).content.decode()


def test_an_ungraded_reply_agrees_with_nobody() -> None:
    rng = np.random.default_rng(1)
    people = rng.random(200) < 0.5
    silent = np.where(np.arange(200) % 4 == 0, np.nan, people.astype(float))

    found = compare_judges(people, [people.astype(float), silent], np.arange(200) // 20)

    assert found.best == 0
    assert (found.kappas[1].value or 1) < 0.8
    difference = found.difference(1, 0)
    assert difference is not None
    assert difference[2] < 0
