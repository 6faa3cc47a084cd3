"""The pages of judges: all of them, and a new one."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from judging.judges.registry import load_shipped
from judging.models import Judge, PromptTemplate
from judging.prompts.criteria import JUDGED_CRITERIA
from tests.judging.scripted_server import ScriptedServer
from tests.judging.world import a_job, work_through

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture(autouse=True)
def shipped(db: None) -> None:
    load_shipped()


def test_assessors_see_no_judge(client: Client, ada: User) -> None:
    client.force_login(ada)

    for name in ("judges", "judge_new", "server", "templates", "template_new"):
        assert client.get(reverse(f"judging:{name}")).status_code == 404
    assert client.get(reverse("judging:judge", args=["lexical-rating"])).status_code == 404
    assert client.get(reverse("judging:template", args=["rating", 1])).status_code == 404


def test_lists_judges_with_what_they_graded_in_ones_own_studies(
    rosas: Client, client: Client, mallory: User, judged_study: Study
) -> None:
    work_through(a_job(judged_study))

    rows = {judge: n for judge, n, _ in rosas.get(reverse("judging:judges")).context["rows"]}
    client.force_login(mallory)
    hers = {judge: n for judge, n, _ in client.get(reverse("judging:judges")).context["rows"]}

    judge = Judge.objects.get(name="lexical-answerability")
    assert rows[judge] == 6
    assert hers[judge] == 0


def test_says_what_the_server_is(rosas: Client, server: ScriptedServer, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = server.url

    page = rosas.get(reverse("judging:server"), headers={"HX-Request": "true"}).content.decode()

    assert "vllm 0.32.0" in page
    assert "judge-model" in page


def test_says_that_no_server_is_named(rosas: Client, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = ""

    assert reverse("judging:model_server_new") in rosas.get(reverse("judging:server")).content.decode()


def test_offers_the_templates_of_the_chosen_criterion(rosas: Client) -> None:
    page = reverse("judging:judge_new")

    offered = {
        asked: rosas.get(page, {"asked": asked} if asked else {}).context["form"]["template"]
        for asked in ("", "relevance", "rating")
    }

    named = {asked: {group for group, _ in list(field.field.choices)[1:]} for asked, field in offered.items()}
    assert named["relevance"] == {"relevance"}
    assert named["rating"] == {"rating"}
    assert JUDGED_CRITERIA[0].criterion_name in named[""] < {one.criterion_name for one in JUDGED_CRITERIA}
    assert PromptTemplate.objects.get(pk=offered["relevance"].initial).name == "relevance"
    assert offered["rating"].initial is None  # several are shipped


def a_judge_as_sent(**changes: object) -> dict[str, object]:
    template = PromptTemplate.objects.get(name="rating", version=1)
    return {
        "engine": "openai", "asked": "rating", "template": template.pk, "model": "llama", "endpoint": "chat",
        "temperature": "0",
        "seed": "7", "name": "llama-rates", **changes,
    }  # fmt: skip


def test_makes_a_judge(rosas: Client, rosa: User) -> None:
    response = rosas.post(reverse("judging:judge_new"), a_judge_as_sent())

    judge = Judge.objects.get(name="llama-rates")
    assert response["Location"] == reverse("judging:judge", args=["llama-rates"])
    assert (judge.model, judge.decoding["seed"], judge.created_by) == ("llama", 7, rosa)
    assert rosas.get(response["Location"]).status_code == 200


def test_the_same_settings_are_the_same_judge(rosas: Client) -> None:
    rosas.post(reverse("judging:judge_new"), a_judge_as_sent())

    response = rosas.post(reverse("judging:judge_new"), a_judge_as_sent(name="another-name"))

    assert response["Location"] == reverse("judging:judge", args=["llama-rates"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": ""}, "This field is required"),
        ({"template": ""}, "This field is required"),
        ({"asked": "answerability"}, "is for “rating of a passage”"),
        ({"name": "lexical-rating"}, "another judge called"),
        ({"temperature": "9"}, "less than or equal to 2"),
        ({"asked": "magic"}, "not one of the available choices"),
    ],
)
def test_refuses_settings_that_make_no_judge(rosas: Client, changes: dict[str, object], said: str) -> None:
    response = rosas.post(reverse("judging:judge_new"), a_judge_as_sent(**changes))

    assert response.status_code == 422
    assert said in response.content.decode()
