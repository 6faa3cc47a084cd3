"""Figures that take long: computed once, kept until what they rest on changes, and shown to whom they belong."""

from __future__ import annotations

import html
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.judgments.services import record_judgment, withdraw_judgment
from collection.masking import mask_elements
from collection.models import Collection, Judgment, Rater, RubricElement, Run, Study, System, Topic, User
from collection.signs_of_life import LONG_PATIENCE
from collection.splits import make_split, record_reading
from collection.thresholds import change_threshold
from collection.web import cached_results
from collection.web.cached_results import compute_now, imported
from collection.web.fingerprints import fingerprint_of
from collection.web.reports import NothingToReport, reports
from config.caches import SignedFileCache
from evaluation.data.judgments import load_criterion
from tests.evaluation.judged import AT, criterion_of
from tests.factories import a_judge_rater

BOARD = "/studies/bridges-study/leaderboard/"
AGREEMENT = "/studies/bridges-study/agreement/"
API = "/api/v1/studies/bridges-study/comparison/?criterion=answerability"
HTMX = {"HX-Request": "true", "HX-Target": "figures"}


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was computed, as it comes: of a report, of its chart, or of a function."""
    names: list[str] = []

    def counted(kind: str) -> Callable[..., Any]:
        compute = imported(kind)

        def compute_and_count(*arguments: Any, **asked: Any) -> Any:
            names.append("_".join(filter(None, [asked.get("report", kind.partition(":")[2]), asked.get("chart")])))
            return compute(*arguments, **asked)

        return compute_and_count

    monkeypatch.setattr(cached_results, "imported", counted)
    return names


def agreement_of(study: Study) -> Any:
    return reports()["agreement"].result(criterion_of(study), {})


@pytest.fixture
def nobody_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[Any, ...]]:
    """No worker takes what it is asked; the messages to it."""
    messages: list[tuple[Any, ...]] = []
    monkeypatch.setattr(settings, "WORK_AT_ONCE", False)
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)
    monkeypatch.setattr(cached_results, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(
        "collection.web.cached_results.current_app.send_task", lambda _, args, **__: messages.append(tuple(args))
    )
    return messages


def work(message: tuple[Any, ...]) -> None:
    kind, study, asked, key, lately = message
    cached_results.compute(kind=kind, study=study, asked=asked, key=key, lately=lately)


# --- Computed once ---------------------------------------------------------------------------------


def test_page_chart_downloads_and_api_share_what_was_computed_once(
    client: Client, judged: Study, rosa: User, computed: list[str]
) -> None:
    client.force_login(rosa)

    for path in ("", "scores.csv", "pairs.tex", "leaderboard.json", "systems.svg", "systems.vl.json", ""):
        assert client.get(f"{BOARD}{path}").status_code == 200

    assert computed == ["leaderboard", "leaderboard_systems"]


def test_what_is_refused_is_kept_too(judged: Study, computed: list[str]) -> None:
    report = reports()["leaderboard"]
    choice = report.options(data={"measure": "goodness"})
    assert choice.is_valid()

    for _ in range(2):
        with pytest.raises(NothingToReport, match="goodness"):
            report.result(judged, choice.validated_data)

    assert computed == ["leaderboard"]


def a_new_judgment(study: Study, _: User) -> None:
    rater = a_judge_rater(study.collection, "another-judge")
    item = study.items.first()
    assert item
    record_judgment(item=item, criterion=criterion_of(study), rater=rater, grade=1, at=AT)


def a_changed_judgment(study: Study, _: User) -> None:
    stored = Judgment.objects.filter(grade=1, criterion__study=study).select_related("item", "rater").first()
    assert stored
    record_judgment(item=stored.item, criterion=criterion_of(study), rater=stored.rater, grade=0, at=AT)


def a_withdrawn_judgment(study: Study, _: User) -> None:
    stored = Judgment.objects.filter(criterion__study=study).select_related("item", "rater").first()
    assert stored
    assert withdraw_judgment(item=stored.item, criterion=criterion_of(study), rater=stored.rater, at=AT)


def a_masking(study: Study, rosa: User) -> None:
    assert mask_elements(elements=RubricElement.objects.all()[:1], reason="answered by nothing", by=rosa, at=AT)


def another_threshold(study: Study, rosa: User) -> None:
    assert change_threshold(criterion=criterion_of(study, "rating"), threshold=5, by=rosa, at=AT)


def an_exclusion(study: Study, rosa: User) -> None:
    rater = study.collection.raters.first() or Rater.objects.get(name="ben")
    study.exclusions.create(rater=rater, reason="in a hurry", excluded_by=rosa, excluded_at=AT)


def a_split(study: Study, rosa: User) -> None:
    make_split(study=study, test_share=0.5, by=rosa, at=AT)


def a_rater_renamed(study: Study, _: User) -> None:
    Rater.objects.filter(name="small-judge").update(name="tiny-judge")


def a_family_stated(study: Study, _: User) -> None:
    System.objects.filter(collection=study.collection).update(family="qwen")


def another_run(study: Study, _: User) -> None:
    Run.objects.create(collection=study.collection, system=System.objects.all()[0], name="another")


def a_topic_attribute(study: Study, _: User) -> None:
    Topic.objects.filter(collection=study.collection).update(attributes={"kind": "factoid"})


def another_licence(study: Study, _: User) -> None:
    Collection.objects.filter(pk=study.collection_id).update(licence="CC BY 4.0")


def an_exclusion_anew(study: Study, rosa: User) -> None:
    an_exclusion(study, rosa)
    study.exclusions.update(lifted_at=AT)
    study.exclusions.create(rater=study.exclusions.get().rater, reason="again", excluded_by=rosa, excluded_at=AT)


@pytest.mark.parametrize(
    "change",
    [
        a_new_judgment,
        a_changed_judgment,
        a_withdrawn_judgment,
        a_masking,
        another_threshold,
        an_exclusion,
        an_exclusion_anew,
        another_licence,
        a_split,
        a_rater_renamed,
        a_family_stated,
        another_run,
        a_topic_attribute,
    ],
)
def test_nothing_is_shown_that_a_change_made_stale(
    judged: Study, rosa: User, computed: list[str], change: Callable[[Study, User], None]
) -> None:
    before = fingerprint_of(judged)
    agreement_of(judged)

    change(judged, rosa)
    agreement_of(judged)

    assert fingerprint_of(judged) != before
    assert computed == ["agreement", "agreement"]


def test_a_reading_of_the_test_part_changes_what_is_shown(judged: Study, rosa: User) -> None:
    split = make_split(study=judged, test_share=0.5, by=rosa, at=AT)
    before = fingerprint_of(judged)

    record_reading(split=split, judge=Rater.objects.get(name="small-judge"), by=rosa, at=AT)

    assert fingerprint_of(judged) != before


def test_who_may_see_the_study_is_asked_before_what_is_kept(
    client: Client, judged: Study, rosa: User, mallory: User, ada: User
) -> None:
    client.force_login(rosa)
    assert client.get(BOARD).status_code == client.get(API).status_code == 200

    for stranger in (mallory, ada):
        client.force_login(stranger)
        for address in (BOARD, f"{BOARD}scores.csv", f"{BOARD}systems.svg", API):
            assert client.get(address).status_code == 404


# --- While a worker is at it -------------------------------------------------------------------------


def test_page_file_part_and_api_say_that_figures_are_being_computed(
    client: Client, judged: Study, rosa: User, nobody_works: list[Any]
) -> None:
    client.force_login(rosa)

    page, part = client.get(AGREEMENT), client.get(AGREEMENT, headers=HTMX)
    file = client.get(f"{AGREEMENT}agreement.json?criterion=answerability")
    answer = client.get(API)

    assert [each.status_code for each in (page, part, file, answer)] == [202] * 4
    assert "Computing …" in page.content.decode()
    assert "waiting for a" in page.content.decode()
    assert "comes by itself" in file.content.decode()
    assert '<section class="stack" id="figures"' in part.content.decode()
    assert answer.json()["state"].startswith("waiting for")
    assert answer["Location"] == answer.json()["ask_again"]
    assert len(nobody_works) == 1  # all of them wait for the same

    work(nobody_works[0])

    assert client.get(AGREEMENT).status_code == 200
    assert client.get(answer["Location"]).json()["criterion"] == "answerability"


def test_the_waiting_page_is_led_to_the_figures(
    client: Client, judged: Study, rosa: User, nobody_works: list[Any]
) -> None:
    client.force_login(rosa)
    page = client.get(f"{AGREEMENT}?criterion=answerability").content.decode()
    [poll] = re.findall(r'hx-get="(/computing/\w+/)"', page)
    here = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{AGREEMENT}?criterion=answerability"}

    waiting = client.get(poll, headers=here)
    work(nobody_works[0])
    ready = client.get(poll, headers=here)

    assert "refresh" not in waiting.content.decode()
    assert poll in waiting.content.decode()
    [address] = re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', ready.content.decode())
    assert html.unescape(address).startswith(f"{AGREEMENT}?criterion=answerability&shown=")
    assert client.get(html.unescape(address)).status_code == 200


@pytest.mark.parametrize("address", ["http://[::1", "http://testserver//[", "http://testserver:port/"])
def test_a_page_that_is_at_no_address_is_led_nowhere(
    client: Client, judged: Study, rosa: User, nobody_works: list[Any], address: str
) -> None:
    client.force_login(rosa)
    [poll] = re.findall(r'hx-get="(/computing/\w+/)"', client.get(AGREEMENT).content.decode())
    work(nobody_works[0])

    led = client.get(poll, headers={"HX-Request": "true", "HX-Current-URL": address})

    assert (led.status_code, b"testserver" in led.content) in {(400, False), (200, False)}


def test_a_chart_that_takes_long_says_so_in_its_place(
    client: Client, judged: Study, rosa: User, nobody_works: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_results, "LONG_WAIT_SECONDS", 0.0)
    client.force_login(rosa)
    as_an_image = {"Sec-Fetch-Dest": "image"}

    chart = client.get(f"{AGREEMENT}coverage.svg?criterion=answerability", headers=as_an_image)
    work(nobody_works[0])
    drawn = client.get(f"{AGREEMENT}coverage.svg?criterion=answerability", headers=as_an_image)

    assert (chart.status_code, chart["Content-Type"]) == (202, "image/svg+xml")
    assert "still being drawn" in chart.content.decode()
    assert "no-store" in chart["Cache-Control"]
    assert (drawn.status_code, drawn["Content-Type"]) == (200, "image/svg+xml")


@pytest.mark.parametrize(
    "address",
    [
        "/studies/bridges-study/qrels/",
        "/studies/bridges-study/qrels/file/",
        "/studies/bridges-study/qrels/provenance/",
        "/studies/bridges-study/qrels/unjudged/",
        "/studies/bridges-study/qrels/each/",
        "/studies/bridges-study/redundancy/",
        "/studies/bridges-study/redundancy/qrels/",
        "/studies/bridges-study/masking/",
        "/studies/bridges-study/bank-check/",
        "/studies/bridges-study/graded-answer/",
        "/studies/bridges-study/publish/bundle/",
        "/studies/bridges-study/publish/card/",
        "/studies/bridges-study/publish/card/file/",
        "/studies/bridges-study/judging/compare/",
        "/api/v1/judges/comparison/?study=bridges-study&criterion=answerability",
        "/api/v1/studies/bridges-study/qrels/?criterion=answerability",
        "/api/v1/studies/bridges-study/bundle/",
        "/api/v1/studies/bridges-study/redundancy/",
        "/api/v1/studies/bridges-study/masking/",
        "/api/v1/studies/bridges-study/divergence/?measure=coverage",
        "/api/v1/studies/bridges-study/calibration/plan/?criterion=answerability&judge=small-judge&half_width=0.1",
    ],
)
def test_nothing_is_computed_in_a_request(
    client: Client, judged: Study, rosa: User, nobody_works: list[Any], address: str
) -> None:
    client.force_login(rosa)

    answers = [client.get(address).status_code]
    while nobody_works:
        work(nobody_works.pop())
        answers.append(client.get(address).status_code)

    assert answers[0] == 202
    assert answers[-1] != 202


def test_a_page_of_two_figures_comes_though_somebody_judges_all_the_time(
    client: Client, judged: Study, rosa: User, nobody_works: list[Any]
) -> None:
    client.force_login(rosa)
    first = again_at("/studies/bridges-study/qrels/", client)
    work(nobody_works.pop())
    a_changed_judgment(judged, rosa)
    second = again_at(first, client)
    work(nobody_works.pop())
    a_new_judgment(judged, rosa)

    assert client.get(second).status_code == 200


def again_at(address: str, client: Client) -> str:
    """Where the waiting page asks again."""
    page = client.get(address)
    assert page.status_code == 202
    [again] = re.findall(r'<a class="button" href="([^"]+)">Refresh', page.content.decode())
    return html.unescape(again)


def test_who_waited_sees_the_figures_though_somebody_judged_since(
    client: Client, judged: Study, rosa: User, nobody_works: list[Any]
) -> None:
    client.force_login(rosa)
    again = client.get(API)["Location"]
    work(nobody_works[0])

    a_new_judgment(judged, rosa)

    assert client.get(again).status_code == 200
    assert client.get(API).status_code == 202
    of_others = again.replace("comparison/", "agreement/details/")
    assert client.get(of_others).status_code == 202


def test_somebody_else_is_asked_where_the_worker_is_gone(
    judged: Study, nobody_works: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> None:
        with pytest.raises(cached_results.StillComputing):
            agreement_of(judged)

    ask()
    ask()
    assert len(nobody_works) == 1

    later = time.time() + LONG_PATIENCE.total_seconds() + 1
    monkeypatch.setattr("collection.web.cached_results.time.time", lambda: later)
    ask()
    assert len(nobody_works) == 2


def test_what_ends_its_worker_again_and_again_is_given_up(judged: Study, nobody_works: list[Any]) -> None:
    with pytest.raises(cached_results.StillComputing):
        agreement_of(judged)
    key = nobody_works[0][3]
    (Path(settings.DATA_DIR) / "computing" / f"{key}.lock").write_text("." * cached_results.MOST_ATTEMPTS)

    work(nobody_works[0])

    with pytest.raises(cached_results.NotComputed, match="stopped 3 times"):
        agreement_of(judged)


def test_nobody_computes_what_somebody_is_computing(
    judged: Study, nobody_works: list[Any], computed: list[str]
) -> None:
    with pytest.raises(cached_results.StillComputing):
        agreement_of(judged)

    with cached_results._lock(nobody_works[0][3]) as attempt:
        work(nobody_works[0])
        assert (attempt, computed) == (1, [])
    work(nobody_works[0])
    work(nobody_works[0])

    assert computed == ["agreement"]


def test_a_fault_is_said_and_tried_again_later(
    client: Client, judged: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cached_results, "imported", lambda _: fail)
    client.force_login(rosa)

    page, answer = client.get(AGREEMENT), client.get(API)

    assert (page.status_code, answer.status_code) == (503, 503)
    assert "(ZeroDivisionError)" in page.content.decode()
    assert "ZeroDivisionError" in answer.json()["detail"]


@pytest.mark.django_db(transaction=True)
def test_a_statement_that_takes_too_long_ends_and_is_said(
    client: Client, judged: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no limit of time")
    limit = "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; import django; django.setup();"
    show = "from django.db import connection as c; print(c.cursor().execute('SHOW statement_timeout').fetchone()[0])"
    environment = {**os.environ, "STATEMENT_TIMEOUT": "7"}
    assert subprocess.check_output([sys.executable, "-c", limit + show], env=environment, text=True).strip() == "7s"

    def slow(*_: Any, **__: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 50")
            try:
                cursor.execute("SELECT pg_sleep(5)")
            finally:
                cursor.execute("SET statement_timeout = 0")

    monkeypatch.setattr(cached_results, "imported", lambda _: slow)
    client.force_login(rosa)

    answer = client.get(API)

    assert (answer.status_code, answer.json()["detail"]) == (503, cached_results.TOO_LONG)


@pytest.mark.parametrize("user", ["ada", "rosa"])
def test_of_an_unknown_key_nothing_is_told(client: Client, judged: Study, user: str) -> None:
    client.force_login(User.objects.get(username=user))

    assert client.get(f"/computing/{'0' * 64}/").status_code == 404


# --- The files ---------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> SignedFileCache:
    return SignedFileCache(tmp_path / "figures", {"TIMEOUT": 60, "OPTIONS": {"MAX_MB": 1}})


def test_values_come_back_until_their_time_is_over(files: SignedFileCache) -> None:
    files.set("a", {"figures": [1, 2]})
    files.set("b", 1, timeout=-1)

    assert files.get("a") == {"figures": [1, 2]}
    assert files.has_key("a")
    assert files.get("b", "none") == "none"
    assert files.get_many(["a", "b"]) == {"a": {"figures": [1, 2]}}


def test_what_this_site_did_not_write_is_no_value(files: SignedFileCache, tmp_path: Path) -> None:
    files.set("a", "mine")
    files.set("b", "other")
    [first, second] = sorted((tmp_path / "figures").iterdir())

    first.write_bytes(second.read_bytes())  # signed, but for another key
    changed = bytearray(second.read_bytes())
    changed[-1] ^= 1
    second.write_bytes(changed)

    assert files.get("a") is files.get("b") is None


def test_the_folder_stays_below_its_limit_and_keeps_what_was_read_last(files: SignedFileCache) -> None:
    for number in range(8):
        files.set(f"{number}", secrets.token_bytes(200_000))
        time.sleep(0.02)
        files.get("0")
    files._cull()

    assert sum(size for _, size, _ in files._sizes()) <= 1024**2
    assert files.get("0") is not None
    assert files.get("7") is not None
    assert files.get("1") is None


def test_files_are_readable_by_nobody_else(files: SignedFileCache, tmp_path: Path) -> None:
    files.set("a", 1)

    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "figures").rglob("*"))


# --- Judgments are read once -----------------------------------------------------------------------

SECOND = ("leaderboard/?measure=coverage", "leaderboard/correlations/", "errors/", "trust/", "calibration/", "qrels/")


def reads_of_judgments(captured: CaptureQueriesContext) -> list[str]:
    """The statements that read judgments one by one. How many there are shows whether the study is as it was."""
    judgment = re.compile(r'SELECT (?!.*\bCOUNT\()"collection_judgment"\.')
    return [one["sql"] for one in captured.captured_queries if judgment.match(one["sql"])]


@pytest.mark.parametrize("second", SECOND)
def test_the_second_figure_of_an_unchanged_study_reads_no_judgment(
    client: Client, judged: Study, rosa: User, second: str
) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as first:
        assert client.get(AGREEMENT).status_code == 200

    with CaptureQueriesContext(connection) as then:
        assert client.get(f"/studies/{judged.name}/{second}").status_code == 200

    assert len(reads_of_judgments(first)) == 1
    assert reads_of_judgments(then) == []


def test_figures_after_a_change_read_judgments_again(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    client.get(AGREEMENT)
    a_changed_judgment(judged, rosa)

    with CaptureQueriesContext(connection) as then:
        client.get(f"/studies/{judged.name}/errors/")

    assert len(reads_of_judgments(then)) == 1


def test_each_reader_sees_their_part_of_what_was_read_for_all(client: Client, judged: Study, rosa: User) -> None:
    split = make_split(study=judged, test_share=0.5, by=rosa, at=AT)
    client.force_login(rosa)
    scores = f"/api/v1/studies/{judged.name}/leaderboard/?measure=coverage&source=small-judge&part="
    client.get(AGREEMENT)

    locked = client.get(f"{scores}test")
    record_reading(split=split, judge=Rater.objects.get(name="small-judge"), by=rosa, at=AT)
    client.get(AGREEMENT)
    of_parts = [client.get(f"{scores}{part}").json()["sources"] for part in ("development", "test")]

    assert (locked.status_code, "locked" in locked.json()[0]) == (400, True)
    ungraded = [one["ungraded"] for [one] in of_parts]
    assert [one["of"] for one in ungraded] == [3, 3]
    assert sorted(one["n"] for one in ungraded) == [0, 1]
    caches["figures"].clear()
    assert of_parts == [client.get(f"{scores}{part}").json()["sources"] for part in ("development", "test")]


def judge_meanwhile(study: Study, *, criterion: int) -> int:
    """A computation in the middle of which somebody judges."""
    judged = load_criterion(study.criteria.get(pk=criterion))
    a_new_judgment(study, study.created_by)
    return judged.ratings.n_ratings


def test_what_was_read_while_somebody_judged_is_not_kept(judged: Study) -> None:
    criterion = criterion_of(judged)
    before = cached_results.StudyRead(fingerprint_of(judged)).key(f"judgments under {criterion.pk}")

    compute_now(f"{__name__}:judge_meanwhile", judged, criterion=criterion.pk)

    assert caches["figures"].get(before) is None
