from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Exclusion, Guideline, Highlight, Item, Judgment, Rater, Study, User
from tests.evaluation.judged import AT, FINGERPRINTS, criterion_of, judge_items
from tests.evaluation.sampled import sampled

__all__ = ["sampled"]

PAGE = "/studies/bridges-study/agreement/details/"
QUERY = "?criterion=answerability"
FILES = [
    f"/studies/bridges-study/agreement/details/{name}{QUERY}"
    for name in ("details.json", "groups.csv", "groups.tex", "disputed.csv")
]


def test_shows_groups_grades_people_and_disputed_items(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "By topic" in page
    assert "Nothing to compare: all judgments were made under the same version." in page
    assert "Same grade by another" in page
    assert "Dawid–Skene" in page
    assert "What is fact 1 of subject 0?" in page  # Ada says yes, Ben says no


def test_a_topic_attribute_groups_the_items(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    groups = client.get(FILES[0]).json()["breakdowns"]["domain"]["groups"]

    assert [group["name"] for group in groups] == ["land", "water"]
    assert sum(group["n_items"] for group in groups) == 60


def test_judgments_are_told_apart_by_the_guidelines_they_were_made_under(
    client: Client, judged: Study, rosa: User
) -> None:
    second = Guideline.objects.create(study=judged, version=2, markdown="Read twice.")
    Judgment.objects.filter(item__topic__topic_id="t1").update(guideline=second)
    Judgment.objects.filter(item__topic__topic_id="t0").update(guideline=judged.guidelines.get(version=1))
    client.force_login(rosa)

    groups = client.get(FILES[0]).json()["breakdowns"]["guidelines"]["groups"]

    assert [(group["name"], group["n_ratings"]) for group in groups] == [("version 1", 6), ("version 2", 6)]


def test_agreement_is_told_with_and_without_what_people_were_not_sure_of(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    client.force_login(rosa)
    graded = dict(Judgment.objects.filter(rater=ben_as_rater).values_list("item_id", "grade"))
    differ = [one.pk for one in Judgment.objects.filter(rater=ada_as_rater) if graded[one.item_id] != one.grade]
    Judgment.objects.filter(pk__in=differ).update(unsure=True)

    every, sure = client.get(FILES[0]).json()["breakdowns"]["certainty"]["groups"]

    assert differ
    assert (every["name"], sure["name"]) == ("all grades", "without those marked “not sure”")
    assert sure["n_ratings"] == every["n_ratings"] - len(differ)
    assert every["percent_agreement"]["value"] < 1
    assert sure["percent_agreement"]["value"] == 1


def test_highlights_of_two_people_are_compared_word_by_word(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    item = judged.items.order_by("pk")[0]
    text = item.judged_text.text or ""
    for rater, words in ((ada_as_rater, "Fact 0"), (ben_as_rater, "Fact 0 of subject")):
        Highlight.objects.create(
            judgment=item.judgments.get(rater=rater), start=text.index(words), end=len(words), quote=words
        )
    client.force_login(rosa)

    highlights = client.get(FILES[0]).json()["highlights"]

    assert highlights["n_items"] == 1
    assert highlights["f1"]["value"] == pytest.approx(2 * 2 / (2 + 4))
    assert highlights["jaccard"]["value"] == pytest.approx(2 / 4)


def test_grades_are_aggregated_under_every_rule_with_ties_counted(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    rules = {one["rule"]: one for one in client.get(FILES[0]).json()["aggregations"]}

    assert rules["majority, ties to the lower"]["counts"] == [4, 2]
    assert rules["majority, ties to the higher"]["counts"] == [2, 4]
    assert rules["majority, ties left out"]["n_tied"] == 2
    assert "no mean" in rules["mean"]["reason"]


def test_a_disputed_item_shows_what_everybody_said(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    item = judged.items.order_by("pk")[1]
    text = item.judged_text.text or ""
    Highlight.objects.create(judgment=item.judgments.get(rater=ada_as_rater), start=0, end=6, quote=text[:6])
    Exclusion.objects.create(study=judged, rater=ben_as_rater, reason="asleep", excluded_at=AT)
    client.force_login(rosa)

    page = client.get(f"/studies/bridges-study/agreement/items/{item.pk}/").content.decode()

    assert f'<mark title="ada">{text[:6]}</mark>' in page
    assert "small-judge" in page
    assert "badge excluded" in page


def test_an_ungraded_reply_is_named_as_such(client: Client, judged: Study, rosa: User) -> None:
    item = Item.objects.get(judgments__grade=None)
    client.force_login(rosa)

    assert "unreadable" in client.get(f"/studies/bridges-study/agreement/items/{item.pk}/").content.decode()


def test_an_item_nobody_judged_says_so(client: Client, judged: Study, rosa: User) -> None:
    Judgment.objects.all().delete()
    client.force_login(rosa)

    page = client.get(f"/studies/bridges-study/agreement/items/{judged.items.order_by('pk')[0].pk}/").content.decode()

    assert "No judgments yet" in page


def test_one_person_alone_breaks_nothing(client: Client, study: Study, rosa: User, ada_as_rater: Rater) -> None:
    from tests.evaluation.judged import report_items

    judge_items(criterion_of(study), ada_as_rater, report_items(study), [1, 1, 0, 0, 1, 0])
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "no other assessor judged the same items" in page
    assert "No two assessors gave different grades" in page


@pytest.mark.parametrize("url", [PAGE, *FILES])
def test_strangers_and_assessors_find_nothing(
    client: Client, judged: Study, mallory: User, ada: User, url: str
) -> None:
    item = judged.items.order_by("pk")[0]
    for user in (mallory, ada):
        client.force_login(user)
        assert client.get(url).status_code == 404
        assert client.get(f"/studies/bridges-study/agreement/items/{item.pk}/").status_code == 404


def test_everything_can_be_taken_away(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert {url: client.get(url).status_code for url in FILES} == dict.fromkeys(FILES, 200)


def test_the_number_of_queries_does_not_grow_with_the_items(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as queries:
        client.get(PAGE)

    assert len(queries) <= 23 + FINGERPRINTS


def test_an_item_takes_few_queries(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as queries:
        client.get(f"/studies/bridges-study/agreement/items/{judged.items.order_by('pk')[0].pk}/")

    assert len(queries) <= 12
