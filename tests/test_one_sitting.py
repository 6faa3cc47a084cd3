"""The whole sitting on the demonstration study: label, judge, compare, publish. In a browser, by keyboard."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import ir_measures
import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection
from playwright.sync_api import Page, expect

from collection.models import Judgment, Study, User
from config.demonstration.loading import PASSWORD
from tests.browser import check_accessibility, close_new_guidelines

pytestmark = [
    pytest.mark.browser,
    pytest.mark.by_hand,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def demonstration(settings: LazySettings, transactional_db: None) -> Study:
    settings.DEMONSTRATION = True
    call_command("load_templates", verbosity=0)
    call_command("load_demonstration", verbosity=0)
    return Study.objects.get(name="demonstration")


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Start a Celery worker on the test's database. No message reaches it: it finds at its start what is to be done."""
    environment = {
        **os.environ,
        "DATA_DIR": str(tmp_path),
        "TEST_DATABASE": str(connection.settings_dict["NAME"]),
        "QUEUE": f"test-{tmp_path.name}",
    }
    application = "tests.judging.celery_on_test_database"
    command = [sys.executable, "-m", "celery", "-A", application, "worker", "--pool", "threads", "--concurrency", "1"]
    command += ["--queues", environment["QUEUE"], "--loglevel", "ERROR"]
    started: list[subprocess.Popen[bytes]] = []
    yield lambda: started.append(subprocess.Popen(command, env=environment))
    for process in started:
        process.terminate()
        process.wait(timeout=30)


def sign_in_by_form(page: Page, username: str) -> None:
    page.goto("/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/(work|studies)/$"))


def saved(page: Page) -> None:
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def work_through(page: Page) -> str:
    """Answer and submit what is on the screen, by keyboard alone. Returns its task type."""
    live = page.locator("#assignment.live")
    live.wait_for()
    close_new_guidelines(page)
    task_type = live.get_attribute("data-task-type")
    numbers = page.get_by_role("tab").count() if page.get_by_role("tab").count() else 1
    for place in range(numbers):
        if place:
            page.keyboard.press("n")
        if task_type == "answerability":
            for key in ["1", "t", "s", "Enter", "Escape"] if place == 0 else ["0"]:
                page.keyboard.press(key)
        elif task_type == "rating":
            page.keyboard.press("3")
        else:
            for key in ["1", "4"]:
                page.keyboard.press(key)
    saved(page)
    address = page.url
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != address)
    return task_type or ""


def test_from_a_label_to_qrels(
    page: Page, demonstration: Study, start_worker: Callable[[], None], tmp_path: Path
) -> None:
    sign_in_by_form(page, "ada")
    page.get_by_role("button", name=re.compile("Start|Continue")).first.focus()
    page.keyboard.press("Enter")
    done: set[str] = set()
    for _ in range(8):
        done.add(work_through(page))
        if len(done) == 3:
            break

    assert done == {"answerability", "rating", "key_point"}
    ada = User.objects.get(username="ada")
    labels = Judgment.objects.filter(rater__user=ada)
    assert set(labels.values_list("criterion__name", flat=True)) == {"answerability", "rating", "grounded", "utility"}

    page.context.clear_cookies()
    sign_in_by_form(page, "rosa")
    page.goto("/studies/demonstration/judging/")
    check_accessibility(page)
    page.get_by_role("button", name=re.compile("lexical.* on rating")).click()
    page.get_by_role("button", name="Start grading").click()
    expect(page.get_by_text("waiting for a worker").first).to_be_visible()
    start_worker()
    expect(page.get_by_text(re.compile("done", re.IGNORECASE)).first).to_be_visible(timeout=60_000)
    items = demonstration.items.filter(task_type="rating").count()
    page.wait_for_function("() => !document.querySelector('[hx-trigger]')", timeout=60_000)
    assert Judgment.objects.filter(criterion__name="rating", rater__judge__engine="lexical").count() == items

    page.goto("/studies/demonstration/agreement/?criterion=rating")
    expect(page.get_by_role("heading", name=re.compile("lexical", re.IGNORECASE)).first).to_be_visible()
    expect(page.get_by_text("simulated").first).to_be_visible()
    check_accessibility(page)

    page.goto("/studies/demonstration/qrels/?criterion=rating")
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("Download")).or_(
            page.get_by_role("link", name=re.compile("qrels"))
        ).first.click()
    path = tmp_path / "demonstration.qrels"
    download.value.save_as(path)
    qrels = list(ir_measures.read_trec_qrels(str(path)))  # type: ignore[no-untyped-call]
    assert qrels
    assert {qrel.query_id for qrel in qrels} <= set(demonstration.collection.topics.values_list("topic_id", flat=True))
