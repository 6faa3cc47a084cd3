"""The pages of judges with examples and of ensembles: do they work, and whom do they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Rater, Study, User
from collection.splits import make_split
from judging.data.human_labels import development_topics
from judging.judges.ensembles import make_ensemble
from judging.judges.registry import load_shipped
from judging.models import Combination, Judge, PromptTemplate
from tests.judging.judges.test_ensembles import judges, say
from tests.judging.prompt_templates.test_views import a_server_judge
from tests.judging.prompts.test_few_shot import label
from tests.judging.world import criterion_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture(autouse=True)
def shipped(db: None) -> None:
    load_shipped()


@pytest.fixture
def split_study(judged_study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Rosa's study, split, with every passage rated alike by Ada and Ben."""
    make_split(study=judged_study, test_share=0.5, by=None, at=now(), seed="1")
    label(judged_study, "rating", [ada_as_rater, ben_as_rater])
    return judged_study


def judge_fields(**changes: str) -> dict[str, str]:
    template = PromptTemplate.objects.get(name="rating-with-examples")
    return {
        "engine": "openai", "asked": "rating", "template": str(template.pk), "model": "llama", "endpoint": "chat",
        "temperature": "0", "seed": "0", "examples": "3", "examples_seed": "1", **changes,
    }  # fmt: skip


def test_a_judge_with_examples_is_made_on_the_page_and_shows_them_to_whom_they_belong(
    rosas: Client, client: Client, mallory: User, split_study: Study
) -> None:
    sent = rosas.post(reverse("judging:judge_new"), judge_fields(examples_from=split_study.name))
    judge = Judge.objects.get(model="llama")
    hers = rosas.get(sent["Location"]).content.decode()
    client.force_login(mallory)
    theirs = client.get(sent["Location"]).content.decode()

    assert len(judge.examples) == 3
    assert judge.examples[0]["item"] in hers
    assert judge.examples[0]["item"] not in theirs
    assert split_study.name not in theirs


def test_a_judge_is_made_with_the_examples_that_an_address_names(rosas: Client, split_study: Study) -> None:
    topics = development_topics(split_study)
    wanted = list(split_study.items.filter(task_type="rating", topic__in=topics).values_list("item_id", flat=True)[:2])
    chosen = {"examples_from": split_study.name, "examples": "0"}

    shown = rosas.get(reverse("judging:judge_new"), {"example_items": wanted, "examples_from": split_study.name})
    rosas.post(reverse("judging:judge_new"), judge_fields(**chosen, example_items="\r\n".join(wanted)))
    both = rosas.post(
        reverse("judging:judge_new"), judge_fields(**chosen | {"examples": "2"}, example_items=wanted[0], name="both")
    )

    page = shown.content.decode()
    assert all(item in page for item in wanted)
    assert f'value="{split_study.name}" selected' in page
    assert [row["item"] for row in Judge.objects.get(model="llama").examples] == wanted
    assert both.status_code == 422
    assert "Either choose examples or have some drawn" in both.content.decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"examples_from": ""}, "a study whose topics are split"),
        ({"examples": "7"}, "7 are needed"),
        ({"asked": "report_rating", "template": "report-rating"}, "has no criterion “report_rating”"),
    ],
)
def test_says_why_no_examples_can_be_drawn(
    rosas: Client, split_study: Study, change: dict[str, str], said: str
) -> None:
    if "template" in change:
        change = {**change, "template": str(PromptTemplate.objects.get(name=change["template"]).pk)}

    refused = rosas.post(reverse("judging:judge_new"), judge_fields(**{"examples_from": split_study.name, **change}))

    assert refused.status_code == 422
    assert said in refused.content.decode()


def test_examples_come_from_no_study_of_others(client: Client, mallory: User, split_study: Study) -> None:
    client.force_login(mallory)

    refused = client.post(reverse("judging:judge_new"), judge_fields(examples_from=split_study.name))

    assert refused.status_code == 422
    assert not Judge.objects.filter(model="llama").exists()


def test_an_ensemble_is_made_and_combined_on_the_page(rosas: Client, judged_study: Study) -> None:
    members = [a_server_judge(), a_server_judge("self-rated-answerability")]
    for judge in members:
        say(judged_study, judge, 3, 5)

    made = rosas.post(
        reverse("judging:ensemble_new"),
        {
            "members": [judge.name for judge in members],
            "rule": "median",
            "ties": "higher",
            "quorum": "1",
            "name": "both",
        },
    )
    combined = rosas.post(
        reverse("judging:ensemble_combine", args=["both"]),
        {"criterion": criterion_of(judged_study, "rating").pk},
        follow=True,
    )

    assert made["Location"] == reverse("judging:judge", args=["both"])
    assert "2 items graded, 0 undecided, 10 waiting for a member" in combined.content.decode()
    assert Combination.objects.get().combined_by == User.objects.get(username="rosa")


def test_an_ensemble_of_samples_makes_its_members(rosas: Client) -> None:
    judge = a_server_judge()

    rosas.post(
        reverse("judging:ensemble_new"),
        {"sampled": judge.name, "samples": "3", "temperature": "0.8", "rule": "majority", "ties": "lower"},
    )

    ensemble = Judge.objects.get(engine=Judge.Engine.ENSEMBLE)
    assert [member.judge and member.judge.decoding["temperature"] for member in ensemble.members.all()] == [0.8] * 3


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "Choose the members, or one judge"),
        ({"members": ["lexical-rating"]}, "2 to 50 different members"),
        ({"members": ["lexical-rating", "lexical-utility"]}, "same kind of items"),
        ({"sampled": "lexical-rating", "samples": "3", "temperature": "1"}, "Select a valid choice"),
    ],
)
def test_says_why_there_is_no_ensemble(rosas: Client, sent: dict[str, Any], said: str) -> None:
    refused = rosas.post(reverse("judging:ensemble_new"), {"rule": "majority", "ties": "lower", **sent})

    assert refused.status_code == 422
    assert said in refused.content.decode()


def test_a_stranger_combines_nothing_in_a_study_that_is_not_theirs(
    client: Client, mallory: User, judged_study: Study
) -> None:
    members = [a_server_judge(), a_server_judge("self-rated-answerability")]
    ensemble, _ = make_ensemble(members)
    client.force_login(mallory)

    client.post(
        reverse("judging:ensemble_combine", args=[ensemble.name]),
        {"criterion": criterion_of(judged_study, "rating").pk},
    )

    assert not Combination.objects.exists()


def test_assessors_see_none_of_it(client: Client, ada: User, split_study: Study) -> None:
    client.force_login(ada)

    for address in (
        reverse("judging:comparison", args=[split_study.name]),
        reverse("judging:ensemble_new"),
        reverse("judging:template", args=["rating", 1]),
    ):
        assert client.get(address).status_code == 404


def test_a_threshold_on_the_expected_grade_is_made_on_the_page(rosas: Client, judged_study: Study) -> None:
    [judge] = judges(1)
    fields = {"members": [judge.name], "rule": "expected", "ties": "lower", "at": "3.5", "name": "from-3-5"}

    refused = rosas.post(reverse("judging:ensemble_new"), fields | {"at": ""})
    made = rosas.post(reverse("judging:ensemble_new"), fields)

    assert refused.status_code == 422
    assert "Give a threshold above 0" in refused.content.decode()
    assert "<dt>Threshold</dt><dd>3.5</dd>" in rosas.get(made["Location"]).content.decode()
