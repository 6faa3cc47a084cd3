"""Trial runs and probes by a worker: what the page and the API say meanwhile, and when the worker is gone or absent."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as all_settings
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from kombu.exceptions import OperationalError
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from judging.engines import EngineUnavailable
from judging.judges.registry import load_shipped
from judging.models import Errand, Judge
from judging.trial_runs import engine_choice, errands
from judging.trial_runs.engine_choice import NoTrialHere
from judging.trial_runs.errands import (
    GIVEN_UP,
    LOST,
    NO_BROKER,
    NOBODY,
    NOBODY_YET,
    Busy,
    as_it_stands,
    ask_for_probe,
    ask_for_trial,
    errand_of,
    trials_of,
    work_on,
)
from tests.judging.engines.test_probe_store import HTMX, a_judge, page_of, probe_of
from tests.judging.scripted_server import ScriptedServer, chat_completion
from tests.judging.world import criterion_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: SettingsWrapper) -> list[tuple[str, list[int]]]:
    """What workers were asked for."""
    settings.WORK_AT_ONCE = False
    tasks: list[tuple[str, list[int]]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: tasks.append((name, args)))
    return tasks


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


def lexical() -> Judge:
    load_shipped()
    return Judge.objects.get(name="lexical-rating")


def a_trial(study: Study, user: User, *, at: datetime | None = None) -> Errand:
    return ask_for_trial(lexical(), criterion_of(study, "rating"), seed=1, by=user, at=at or now())


def taken_up(errand: Errand, *, quiet: timedelta) -> Errand:
    """Make it one whose worker was last heard of so long ago."""
    Errand.objects.filter(pk=errand.pk).update(begun_at=now() - quiet)
    errand.sign_of_life.write_text("0")
    heard = (now() - quiet).timestamp()
    os.utime(errand.sign_of_life, (heard, heard))
    errand.refresh_from_db()
    return errand


def test_a_worker_works_each_queue_and_test_runs_keep_no_page_waiting() -> None:
    workers = re.findall(
        r"--queues (\S+) .*--pool (\w+) --concurrency (\d+)", (all_settings.BASE_DIR / "Procfile").read_text()
    )
    by_queue = {queue: (pool, int(threads)) for queues, pool, threads in workers for queue in queues.split(",")}

    assert by_queue.keys() == all_settings.CELERY_TASK_QUEUES.keys()
    assert all_settings.CELERY_TASK_ROUTES["judging.work_on_errand"] == {"queue": "errands"}
    assert by_queue["errands"] != by_queue["pages"]
    assert by_queue["errands"] == ("threads", 4)  # beside two jobs that are graded, two researchers try judges


def test_the_page_asks_a_worker_and_looks_until_it_is_done(
    rosas: Client,
    judged_study: Study,
    sent: list[Any],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    judge = lexical()

    with django_capture_on_commit_callbacks(execute=True):
        asked = rosas.post(reverse("judging:judge_trial", args=[judge.name]), {"study": judged_study.name, "seed": "7"})
    errand = Errand.objects.get()
    waiting = rosas.get(asked.headers["Location"])
    looking = rosas.get(asked.headers["Location"], headers=HTMX)
    work_on(errand.pk, at=now())
    ended = rosas.get(asked.headers["Location"], headers=HTMX)
    done = rosas.get(asked.headers["Location"])

    assert sent == [("judging.work_on_errand", [errand.pk])]
    assert "trials" not in waiting.context
    for page in (waiting, looking):
        assert "waiting for a worker" in page.content.decode()
        assert 'hx-trigger="every 1s"' in page.content.decode()
    assert ended.headers["HX-Refresh"] == "true"
    assert [trial.reading.grade is not None for trial in done.context["trials"]] == [True] * 5
    assert "every 1s" not in done.content.decode()
    assert 'name="seed" value="7"' in done.content.decode()


def test_the_api_says_202_until_it_is_done(rosas: Client, judged_study: Study, sent: list[Any]) -> None:
    judge = lexical()

    asked = rosas.post(f"/api/v1/judges/{judge.name}/trial/", {"study": judged_study.name}, "application/json")
    waiting = rosas.get(asked.headers["Location"])
    work_on(Errand.objects.get().pk, at=now())
    done = rosas.get(asked.headers["Location"])

    assert (asked.status_code, waiting.status_code, done.status_code) == (202, 202, 200)
    assert (waiting.json()["state"], waiting.json()["begun"], waiting.json()["trials"]) == ("at work", False, None)
    assert waiting.headers["Retry-After"] == "1"
    assert (done.json()["state"], len(done.json()["trials"])) == ("done", 5)


def test_a_reply_is_the_same_after_it_was_stored(
    rosa: User, judged_study: Study, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url
    server.script(lambda body: chat_completion("no grade at all" if "passage" in str(body) else "3"))
    by_hand: list[Any] = []
    keep = engine_choice.try_out

    def remembered(*asked: Any, **more: Any) -> Any:
        by_hand.extend(keep(*asked, **more))
        return by_hand

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(errands, "try_out", remembered)
        errand = ask_for_trial(a_judge(), criterion_of(judged_study, "rating"), seed=1, by=rosa, at=now())

    assert len(by_hand) == 5
    assert trials_of(errand) == by_hand


def test_a_probe_is_looked_for_by_its_page(
    rosas: Client, server: ScriptedServer, sent: list[Any], settings: SettingsWrapper
) -> None:
    judge = a_judge()
    settings.JUDGE_BASE_URL = server.url

    asked = rosas.post(probe_of(judge), headers=HTMX).content.decode()
    whole = rosas.get(page_of(judge)).content.decode()
    work_on(Errand.objects.get().pk, at=now())
    done = rosas.get(probe_of(judge), headers=HTMX).content.decode()

    for page in (asked, whole):
        assert "waiting for a worker" in page
        assert f'hx-get="{probe_of(judge)}" hx-trigger="every 1s"' in page
        assert "Probe again" not in page
    assert "vllm 0.32.0" in done
    assert "every 1s" not in done
    assert "Probe again" in done


def test_a_worker_that_was_killed_is_noticed_and_nobody_else_pays_for_it(
    rosas: Client, rosa: User, judged_study: Study, sent: list[Any]
) -> None:
    errand = taken_up(a_trial(judged_study, rosa), quiet=timedelta(seconds=11))
    address = reverse("judging:trial", args=[errand.pk])

    looking = rosas.get(address, headers=HTMX)
    page = rosas.get(address).content.decode()
    by_api = rosas.get(reverse("api:errand", args=[errand.pk]))
    work_on(errand.pk, at=now())  # the broker delivers it again
    errand.refresh_from_db()

    assert looking.headers["HX-Refresh"] == "true"
    assert "worker stopped" in page
    assert "Run again" in page
    assert (by_api.status_code, by_api.json()["state"], by_api.json()["error"]) == (200, "failed", LOST)
    assert (errand.state, errand.error, errand.result) == ("failed", LOST, None)


def test_a_worker_that_lives_is_waited_for(rosa: User, judged_study: Study, sent: list[Any]) -> None:
    errand = taken_up(a_trial(judged_study, rosa), quiet=timedelta(seconds=3))

    work_on(errand.pk, at=now())  # the broker delivers it twice

    assert as_it_stands(errand, at=now()).is_at_work
    errand.refresh_from_db()
    assert errand.is_at_work


def test_what_ends_while_somebody_looks_has_not_failed(rosa: User, judged_study: Study, sent: list[Any]) -> None:
    seen = taken_up(a_trial(judged_study, rosa), quiet=timedelta(seconds=20))
    Errand.objects.update(state="done", result=[])
    seen.sign_of_life.unlink()

    assert as_it_stands(seen, at=now()).state == "done"


@pytest.mark.parametrize(
    ("waited", "state", "said"),
    [
        (timedelta(seconds=50), "at work", ""),
        (timedelta(seconds=61), "at work", NOBODY_YET),
        (GIVEN_UP + timedelta(seconds=1), "failed", NOBODY),
    ],
)
def test_an_absent_worker_is_noticed(
    rosas: Client, rosa: User, judged_study: Study, sent: list[Any], waited: timedelta, state: str, said: str
) -> None:
    errand = a_trial(judged_study, rosa, at=now() - waited)

    told = rosas.get(reverse("api:errand", args=[errand.pk])).json()
    page = rosas.get(reverse("judging:trial", args=[errand.pk])).content.decode()

    assert (told["state"], told["error"]) == (state, said)
    assert said in page


def test_what_was_given_up_is_not_done_by_a_worker_that_comes_late(
    rosa: User, judged_study: Study, sent: list[Any]
) -> None:
    errand = a_trial(judged_study, rosa, at=now() - GIVEN_UP - timedelta(seconds=1))

    work_on(errand.pk, at=now())

    errand.refresh_from_db()
    assert (errand.state, errand.error) == ("failed", NOBODY)


def test_says_that_the_broker_does_not_answer(
    rosa: User,
    judged_study: Study,
    sent: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError

    monkeypatch.setattr("celery.current_app.send_task", refuse)

    with django_capture_on_commit_callbacks(execute=True):
        errand = a_trial(judged_study, rosa)

    errand.refresh_from_db()
    assert (errand.state, errand.error) == ("failed", NO_BROKER)


def test_each_researcher_has_one_at_a_time(rosas: Client, rosa: User, judged_study: Study, sent: list[Any]) -> None:
    first = a_trial(judged_study, rosa)
    address = reverse("judging:judge_trial", args=[first.judge.name])

    with pytest.raises(Busy, match="Your trial run of “lexical-rating” is still running"):
        a_trial(judged_study, rosa)
    assert rosas.post(address, {"study": judged_study.name}).status_code == 503
    taken_up(first, quiet=timedelta(minutes=1))
    assert a_trial(judged_study, rosa).pk != first.pk


def test_what_cannot_be_tried_asks_no_worker(
    rosa: User, judged_study: Study, sent: list[Any], settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = ""

    with pytest.raises(NoTrialHere):
        ask_for_trial(a_judge(Judge.Engine.VLLM), criterion_of(judged_study, "rating"), seed=1, by=rosa, at=now())
    with pytest.raises(EngineUnavailable, match="No model server is configured"):
        ask_for_probe(a_judge(), by=rosa, at=now())
    assert not Errand.objects.exists()


def test_a_fault_is_said(rosa: User, judged_study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(errands, "try_out", fail)

    errand = a_trial(judged_study, rosa)

    assert errand.state == "failed"
    assert "An internal error occurred (ZeroDivisionError)" in errand.error
    assert not errand.sign_of_life.exists()


def test_is_seen_by_who_asked_for_it_alone_and_while_the_study_is_theirs(
    rosa: User, mallory: User, ada: User, client: Client, judged_study: Study
) -> None:
    errand = a_trial(judged_study, rosa)
    addresses = [reverse("judging:trial", args=[errand.pk]), reverse("api:errand", args=[errand.pk])]

    for stranger, statuses in ((mallory, [404, 404]), (ada, [404, 403])):
        client.force_login(stranger)
        assert [client.get(address).status_code for address in addresses] == statuses
    judged_study.collection.owner = mallory
    judged_study.collection.save()
    assert errand_of(rosa, errand.pk, at=now()) is None


def test_old_ones_are_removed(rosa: User, judged_study: Study) -> None:
    old = a_trial(judged_study, rosa, at=now() - timedelta(days=1, minutes=1))

    new = a_trial(judged_study, rosa)

    assert old.pk != new.pk
    assert [errand.pk for errand in Errand.objects.all()] == [new.pk]
