from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Split, Study, TestReading, Topic, User
from collection.splits import make_split
from evaluation.agreement.report import measure_criterion
from evaluation.data.visibility import Parts, parts_of
from tests.evaluation.judged import AT, criterion_of
from tests.evaluation.publishing.test_audit_bundle import bundle_of
from tests.evaluation.sampled import sampled

__all__ = ["sampled"]

SPLIT = "/studies/bridges-study/split/"
READ = f"{SPLIT}read/"
TRUST = "/studies/bridges-study/trust/"
AGREEMENT = "/studies/bridges-study/agreement/"
API = "/api/v1/studies/bridges-study/"
QUERY = {"criterion": "answerability", "judge": "stork-7b"}


@pytest.fixture
def locked(sampled: Study, rosa: User) -> Study:
    make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")
    return sampled


def the_judge(study: Study) -> int:
    return study.collection.raters.get(name="stork-7b").pk


def parts(study: Study) -> Parts:
    found = parts_of(study)
    assert found
    return found


def test_rosa_splits_a_study(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    assert "Split the study" in client.get(SPLIT).content.decode()

    response = client.post(SPLIT, {"test_share": "0.4"}, follow=True)

    assert response.redirect_chain
    assert "The test part is 4 topics now." in response.content.decode()
    assert '<p class="answer">4 of 10 topics are held out; no' in response.content.decode()
    assert Split.objects.get(study=sampled).made_by == rosa


def test_a_second_split_is_refused(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(SPLIT, {"test_share": "0.4"})

    assert response.status_code == 422
    assert Split.objects.count() == 1


@pytest.mark.parametrize("share", ["", "0", "1", "many", "nan"])
def test_a_share_that_is_none_is_refused(client: Client, sampled: Study, rosa: User, share: str) -> None:
    client.force_login(rosa)

    assert client.post(SPLIT, {"test_share": share}).status_code == 422
    assert not Split.objects.exists()


def test_a_study_without_items_cannot_be_split(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(SPLIT, {"test_share": "0.4"})

    assert response.status_code == 422
    assert "asks about 0 topic(s)" in response.content.decode()


def test_judges_are_compared_on_the_development_part_alone(locked: Study) -> None:
    before = Split.objects.get(study=locked)
    with_split = measure_criterion(criterion_of(locked))
    before.delete()
    without = measure_criterion(criterion_of(locked))

    assert with_split.judges[0].part == "development"
    assert with_split.judges[0].comparison.n_items < without.judges[0].comparison.n_items
    assert with_split.agreement.n_ratings == without.agreement.n_ratings
    assert with_split.tests == ()
    assert [judge.name for judge in with_split.locked] == ["stork-7b"]


def test_no_get_request_shows_the_test_part_before_it_was_read(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    test_topics = set(Topic.objects.filter(pk__in=parts(locked).test).values_list("topic_id", flat=True))

    trust = client.get(f"{TRUST}trust.json", QUERY).json()
    comparison = client.get(f"{API}comparison/", QUERY).json()
    texts = client.get(f"{AGREEMENT}answerability/coverage.csv").content.decode()
    asked = client.get(TRUST, {**QUERY, "part": "test"})
    asked_by_api = client.get(f"{API}trust/", {**QUERY, "part": "test"})

    assert trust["part"] == "development"
    assert trust["threshold_choice"]["reported"] is None
    assert trust["threshold_choice"]["reported_on"] == []
    assert [one["part"] for one in comparison["judges"]] == ["development"]
    assert not any(f",{topic}," in texts for topic in test_topics)
    assert len(measure_criterion(criterion_of(locked)).coverage_points) == 2 * len(parts(locked).development)
    assert asked.status_code == 404
    assert asked_by_api.status_code == 400
    assert not TestReading.objects.exists()


def test_a_reading_opens_the_test_part_and_stands_beside_every_figure(
    client: Client, locked: Study, rosa: User
) -> None:
    client.force_login(rosa)

    shown = client.post(READ, {"judge": the_judge(locked), "criterion": "answerability"}, follow=True)
    again = client.post(READ, {"judge": the_judge(locked), "criterion": "answerability"}, follow=True)

    assert "unlocked once</strong> for this judge" in shown.content.decode()
    assert "unlocked twice</strong> for this judge" in again.content.decode()
    assert "test topics, unlocked twice" in client.get(AGREEMENT).content.decode()
    trust = client.get(f"{TRUST}trust.json", {**QUERY, "part": "test"}).json()
    assert (trust["part"], trust["test_readings"]) == ("test", 2)
    assert trust["threshold_choice"]["reported"]["kappa"]["value"] is not None
    table = client.get(f"{AGREEMENT}judges.csv?criterion=answerability").content.decode().splitlines()
    assert any(line.startswith("stork-7b,test,2,") for line in table)
    assert [reading.read_by for reading in TestReading.objects.all()] == [rosa, rosa]


def test_the_threshold_is_chosen_on_development_and_reported_on_test(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    before = client.get(f"{TRUST}trust.json", QUERY).json()["threshold_choice"]

    client.post(READ, {"judge": the_judge(locked)})

    after = client.get(f"{TRUST}trust.json", QUERY).json()["threshold_choice"]
    assert (after["at"], after["chosen_on"]) == (before["at"], before["chosen_on"])
    assert before["n_reported"] == 0
    both = measure_criterion(criterion_of(locked))
    assert after["n_reported"] == both.tests[0].comparison.n_items
    assert after["reported"] == both.tests[0].comparison.threshold.as_dict()


def test_a_reading_by_get_is_refused(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(READ, {"judge": the_judge(locked)}).status_code == 405
    assert not TestReading.objects.exists()


def test_an_unknown_judge_is_not_found(client: Client, locked: Study, rosa: User) -> None:
    judges = ["", "0", "x", "999999"]
    client.force_login(rosa)

    assert {judge: client.post(READ, {"judge": judge}).status_code for judge in judges} == dict.fromkeys(judges, 404)


def test_a_study_that_is_not_split_has_nothing_to_read(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(READ, {"judge": the_judge(sampled)}, follow=True)

    assert "is not split into development and test topics yet" in response.content.decode()


@pytest.mark.parametrize("method", ["get", "post"])
def test_strangers_and_assessors_find_nothing(
    client: Client, locked: Study, mallory: User, ada: User, method: str
) -> None:
    for user in (mallory, ada):
        client.force_login(user)
        assert getattr(client, method)(SPLIT, {"test_share": "0.5"}).status_code == 404
        assert client.post(READ, {"judge": the_judge(locked)}).status_code == 404
        assert getattr(client, method)(f"{API}split/").status_code == 404


def test_the_bundle_and_the_card_keep_the_test_part_locked(locked: Study, rosa: User) -> None:
    comparisons = json.loads(bundle_of(locked)["figures/comparisons.json"])["answerability"]
    assert [one["part"] for one in comparisons] == ["development"]

    TestReading.objects.create(
        split=locked.split, judge=locked.collection.raters.get(name="stork-7b"), read_by=rosa, read_at=AT
    )

    files = bundle_of(locked, names=True)
    comparisons = json.loads(files["figures/comparisons.json"])["answerability"]
    shown = json.loads(json.dumps(measure_criterion(criterion_of(locked)).as_dict()))
    assert [(one["part"], one["test_readings"]) for one in comparisons] == [("development", 1), ("test", 1)]
    assert comparisons == shown["judges"]
    assert "test, read once" in files["data_card.md"].decode()


def test_the_command_splits_compares_and_counts(locked: Study) -> None:
    def run(*arguments: str) -> Any:
        out = StringIO()
        call_command(*arguments, "--json", stdout=out, stderr=StringIO())
        return json.loads(out.getvalue())

    development = run("compare", "--study", "bridges-study", "--criterion", "answerability")
    test = run("compare", "--study", "bridges-study", "--criterion", "answerability", "--test")
    shown = run("split", "--study", "bridges-study")

    assert (development["part"], development["test_readings"]) == ("development", 0)
    assert (test["part"], test["test_readings"]) == ("test", 1)
    assert (shown["development_topics"], shown["test_topics"]) == (6, 4)
    assert shown["readings"] == {"stork-7b": 1}


def test_the_command_says_what_is_wrong(sampled: Study) -> None:
    with pytest.raises(CommandError, match="not split"):
        call_command("split", "--study", "bridges-study")
    with pytest.raises(CommandError, match="between 0 and 1"):
        call_command("split", "--study", "bridges-study", "--test-share", "2")
    with pytest.raises(CommandError, match="has no test topics"):
        call_command("compare", "--study", "bridges-study", "--criterion", "answerability", "--test")


def test_the_api_splits_and_reads(client: Client, sampled: Study, rosa: User) -> None:
    client.force_login(rosa)
    assert client.get(f"{API}split/").status_code == 404

    made = client.post(f"{API}split/", {"test_share": 0.5}, content_type="application/json")
    refused = client.post(f"{API}split/", {"test_share": 0.5}, content_type="application/json")
    read = client.post(f"{API}split/readings/", QUERY, content_type="application/json")
    unknown = client.post(f"{API}split/readings/", {**QUERY, "judge": "x"}, content_type="application/json")

    assert (made.status_code, refused.status_code, read.status_code, unknown.status_code) == (201, 400, 201, 400)
    assert len(made.json()["topics"]["test"]) == 5
    assert read.json()["test_readings"] == 1
    assert read.json()["figures"][0]["part"] == "test"
    assert client.get(f"{API}split/").json()["readings"] == {"stork-7b": 1}


def test_topics_that_came_after_the_split_are_told(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    locked.split.topics.filter(pk=locked.split.topics.values("pk")[:1]).delete()

    assert "1 topic came after the split and belongs to neither part" in client.get(SPLIT).content.decode()


def test_the_number_of_queries_does_not_grow_with_topics(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as before:
        client.get(SPLIT)
    for number in range(5):
        topic = Topic.objects.create(collection=locked.collection, topic_id=f"new{number}", request="?")
        locked.split.topics.create(topic=topic, part="dev")

    with CaptureQueriesContext(connection) as after:
        client.get(SPLIT)

    assert len(after) == len(before) <= 18


def test_a_judge_of_five_thousand_digits_is_none(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.post(READ, {"judge": "9" * 5_000, "criterion": "answerability"}).status_code == 404
    assert not TestReading.objects.exists()
