"""Who judged how much, how far people agree, and judges beside them: page, part and API."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from collection.judgments.services import record_judgment
from collection.models import Exclusion, Rater, Study, User
from collection.web import cached_results
from evaluation.dashboard.figures import MOST_RATERS, Axis, measure_dashboard
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.factories import a_judge_rater

PAGE = "/studies/bridges-study/dashboard/"
API = "/api/v1/studies/bridges-study/dashboard/"
HTMX = {"HX-Request": "true", "HX-Target": "dashboard"}


def test_shows_raters_agreement_and_judges(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "18 judgments by 3 raters" in page
    answers = page.split('class="answer"')[1:]
    assert answers[0].startswith(">answerability: ")
    assert "topics are too few for an interval" in answers[0].partition("<")[0]
    assert "small-judge" in page.split('id="forest"')[1]


def test_ungraded_replies_are_counted_beside_the_others(judged: Study) -> None:
    found = {one.rater.name: one for one in measure_dashboard(judged).raters}

    assert (found["small-judge"].n, found["small-judge"].n_ungraded) == (6, 1)
    assert (found["ada"].n, found["ada"].n_ungraded) == (6, 0)


def test_who_is_excluded_is_shown_so_and_not_measured(judged: Study, ben_as_rater: Rater, rosa: User) -> None:
    Exclusion.objects.create(study=judged, rater=ben_as_rater, reason="in a hurry", excluded_by=rosa, excluded_at=AT)

    found = measure_dashboard(judged)

    assert [one.rater.name for one in found.raters if one.excluded] == ["ben"]
    assert found.agreement == ()  # Ada alone agrees with nobody


def test_many_raters_are_one_row_on_the_page_and_all_in_the_api(client: Client, judged: Study, rosa: User) -> None:
    item, criterion = judged.items.order_by("pk")[0], criterion_of(judged)
    for number in range(MOST_RATERS):
        judge_items(criterion, a_judge_rater(judged.collection, f"judge-{number}"), [item], [1])
    client.force_login(rosa)

    page, answer = client.get(PAGE).content.decode(), client.get(API).json()

    assert "3 others" in page
    assert len(answer["raters"]) == MOST_RATERS + 3
    assert answer["judgments"] == 18 + MOST_RATERS


def test_a_study_without_judgments_says_so_without_a_worker(
    client: Client, study: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(rosa)
    monkeypatch.setattr("evaluation.dashboard.views.recent_result", lambda *_, **__: pytest.fail("A worker was asked."))

    page = client.get(PAGE, headers=HTMX).content.decode()

    assert "Nobody has judged yet" in page
    assert "Judges beside people" not in page


def test_simulations_are_marked(client: Client, judged: Study, rosa: User) -> None:
    Rater.objects.filter(name="ada").update(origin=Rater.Origin.SIMULATED)
    client.force_login(rosa)

    assert "made by a simulation" in client.get(PAGE).content.decode()


def test_strangers_find_nothing(client: Client, judged: Study, ada: User, mallory: User) -> None:
    for stranger in (ada, mallory):
        client.force_login(stranger)
        assert client.get(PAGE).status_code == client.get(API).status_code == 404


def test_sends_nothing_where_nothing_changed(client: Client, judged: Study, rosa: User, ada_as_rater: Rater) -> None:
    client.force_login(rosa)
    first = client.get(PAGE, headers=HTMX).content.decode()
    again = first.split('hx-get="')[1].split('"')[0]

    assert client.get(again, headers=HTMX).status_code == 204

    record_judgment(
        item=judged.items.order_by("pk")[0], criterion=criterion_of(judged), rater=ada_as_rater, grade=0, at=AT
    )
    assert client.get(again, headers=HTMX).status_code == 200


def test_shows_the_figures_of_before_while_new_ones_are_computed(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(rosa)
    client.get(PAGE, headers=HTMX)
    asked: list[Any] = []
    monkeypatch.setattr(settings, "WORK_AT_ONCE", False)
    monkeypatch.setattr("collection.web.cached_results.current_app.send_task", lambda _, args, **__: asked.append(args))
    judge = a_judge_rater(judged.collection, f"newcomer-{secrets.token_hex(4)}")
    record_judgment(item=judged.items.order_by("pk")[0], criterion=criterion_of(judged), rater=judge, grade=1, at=AT)

    page = client.get(PAGE, headers=HTMX).content.decode()

    assert "18 judgments by 3 raters" in page
    assert "newer ones are being counted" in page
    (message,) = asked
    cached_results.compute(kind=message[0], study=message[1], asked=message[2], key=message[3], lately=message[4])
    assert "19 judgments by 4 raters" in client.get(PAGE, headers=HTMX).content.decode()


@pytest.mark.parametrize(
    ("low", "value", "place"), [(0.0, 0.5, 50.0), (0.0, 1.0, 100.0), (-1.0, 0.0, 50.0), (0.0, -0.3, 0.0)]
)
def test_an_axis_ends_at_1_and_holds_what_is_beyond(low: float, value: float, place: float) -> None:
    assert Axis(low).place(value) == place
