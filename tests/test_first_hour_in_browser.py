"""From an empty site to the comparison of 33 judges: what a researcher does in a browser, and in a terminal."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from collection.importing.background import work_on_upload
from collection.models import Judgment, Rater, Study, Upload, User
from tests.browser import SignIn
from tests.many_judges import write_campaign

MOST_ACTIONS = 10
# A busy machine takes a multiple of what a person waits; this notices what does not end.
MOST_SECONDS = 60
JUDGES = 33


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """As many files as of the whole campaign, with fewer lines."""
    return write_campaign(tmp_path / "campaign", n_topics=3, n_passages=12, n_judges=JUDGES)


def work() -> None:
    """Do what a worker does with the files that wait for one."""
    for upload in Upload.objects.at_work():
        work_on_upload(pk=upload.pk, generation=upload.generation, at=now())


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_ten_actions_lead_from_an_empty_site_to_the_comparison_of_judges(
    page: Page, sign_in: SignIn, rosa: User, files: dict[str, Path], settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    sign_in(page, rosa)
    page.goto("/collections/")
    actions: list[str] = []
    began = time.monotonic()

    def act(what: str, action: Callable[[], object]) -> None:
        actions.append(what)
        action()

    act("open the form", page.get_by_role("link", name="New collection").first.click)
    act("name it", lambda: page.get_by_label("Title").fill("Campaign"))
    act("give its address", lambda: page.get_by_label("Name").fill("campaign"))
    act("create it", page.get_by_role("button", name="Create collection").click)
    act("choose all files", lambda: page.get_by_label("Files", exact=True).set_input_files(list(files.values())))
    act("without texts", page.get_by_label("Create missing passages with only an id").check)
    act("preview", page.get_by_role("button", name="Preview").click)
    expect(page.get_by_text("worker").first).to_be_visible()
    work()
    expect(page.locator("[data-tally-said]")).to_be_visible()
    act("import them", page.get_by_role("button", name="Import", exact=True).click)
    expect(page.get_by_text("worker").first).to_be_visible()
    work()

    expect(page).to_have_url(re.compile(r"/studies/campaign-qrels/judge-comparison/\?criterion=relevance"))
    expect(page.get_by_text("is imported").first).to_be_visible()
    assert len(actions) <= MOST_ACTIONS, actions
    assert time.monotonic() - began < MOST_SECONDS
    kinds = Rater.objects.filter(collection__name="campaign").values_list("kind", "name")
    assert sorted(kind for kind, _ in kinds) == ["assessor"] + ["judge"] * JUDGES
    assert ("assessor", "people") in kinds


@pytest.mark.django_db
def test_three_commands_lead_there_too(rosa: User, files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    judges = [path for name, path in files.items() if name.startswith("judges/")]
    others = [path for path in files.values() if path not in judges]

    call_command("import", *map(str, others), collection="campaign", owner=rosa.username, without_texts=True)
    call_command("import", *map(str, judges), collection="campaign", judges=True)
    capsys.readouterr()
    call_command("compare_judges", study="campaign-qrels", criterion="relevance")

    told = capsys.readouterr().out
    assert Study.objects.get().name == "campaign-qrels"
    assert Judgment.objects.filter(rater__kind="judge").values("rater").distinct().count() == JUDGES
    assert Judgment.objects.filter(rater__kind="assessor").values_list("rater__name").distinct().get() == ("people",)
    assert any(path.stem in told for path in judges)
