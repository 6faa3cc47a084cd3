"""A prompt is previewed, tried and compared, and an ensemble made, in Chromium."""

from __future__ import annotations

import json

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Judgment, Rater, Study, User
from collection.splits import make_split
from judging.judges.registry import load_shipped
from judging.models import Judge
from tests.browser import SignIn, check_accessibility
from tests.judging.prompt_templates.test_views import a_server_judge, grade_development
from tests.judging.prompts.test_few_shot import label
from tests.judging.scripted_server import Raw, ScriptedServer, chat_completion
from tests.looks import check_pages

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = [
    *(f"/judges/templates/{one}" for one in ("", "preference/1/", "rating-with-examples/1/", "new/")),
    "/judges/ensembles/new/",
    "/judges/new/",
    "/studies/bridges-study/judging/compare/?criterion=rating",
]


@pytest.fixture
def split_study(judged_study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    load_shipped()
    make_split(study=judged_study, test_share=0.5, by=None, at=now(), seed="1")
    label(judged_study, "rating", [ada_as_rater, ben_as_rater])
    return judged_study


def test_rosa_looks_at_prompts_on_a_phone_tries_one_and_reads_two_versions_side_by_side(
    page: Page,
    phone: Page,
    sign_in: SignIn,
    rosa: User,
    split_study: Study,
    server: ScriptedServer,
    settings: SettingsWrapper,
) -> None:
    first = a_server_judge()
    grade_development(split_study, first, 0, 1, 2, 3, 4, None)
    sign_in(phone, rosa)
    check_pages(phone, PAGES)

    settings.JUDGE_BASE_URL = server.url
    server.posts["/tokenize"] = Raw(body=json.dumps({"count": 321}).encode())
    server.script(lambda body: chat_completion("3"))
    second = a_server_judge("self-rated-answerability")
    grade_development(split_study, second, 0, 1, 2, 3, 5, 5)
    sign_in(page, rosa)
    page.goto("/judges/templates/rating/1/")
    expect(page.get_by_text("321 tokens, counted by vllm 0.32.0")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Run on five items").press("Enter")
    expect(page.get_by_role("heading", name=f"Trial run of {first.name}")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(6)
    check_accessibility(page)
    page.get_by_role("link", name="Back to the template").click()
    page.get_by_role("link", name="Compare prompt versions").click()
    expect(page.get_by_role("heading", name="Prompt versions, reply by reply")).to_be_visible()
    page.get_by_label(f"Compare {first.name}", exact=True).check()
    page.get_by_label(f"Compare {second.name}", exact=True).check()
    page.get_by_role("button", name="Read two judges side by side").press("Enter")

    expect(page.get_by_text("2 items of the development part")).to_be_visible()
    expect(page.get_by_role("region", name="Items on which the two judges differ").get_by_role("row")).to_have_count(3)
    check_accessibility(page)
    assert Judgment.objects.filter(rater__judge=first).count() == 6


def test_rosa_makes_an_ensemble_and_combines_it(page: Page, sign_in: SignIn, rosa: User, split_study: Study) -> None:
    first, second = a_server_judge(), a_server_judge("self-rated-answerability")
    for judge in (first, second):
        grade_development(split_study, judge, 0, 1, 2, 3, 4, 5)
    sign_in(page, rosa)

    page.goto("/judges/ensembles/new/")
    check_accessibility(page)
    page.get_by_label(f"{first.name} – ").check()
    page.get_by_label(f"{second.name} – ").check()
    page.get_by_label("Name").fill("both")
    page.get_by_role("button", name="Create", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="both")).to_be_visible()
    page.get_by_label("Study and criterion").select_option(label=f"{split_study}: rating")
    page.get_by_role("button", name="Combine").press("Enter")

    expect(page.get_by_text("6 items graded, 0 undecided, 6 waiting for a member")).to_be_visible()
    check_accessibility(page)
    assert Judgment.objects.filter(rater=Judge.objects.get(name="both").rater).count() == 6
