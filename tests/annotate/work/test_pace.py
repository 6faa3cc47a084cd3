"""The next task fetched ahead, a task skipped with a reason, the time that is left."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.models import Assignment, Place
from annotate.work.pace import claim_ahead, minutes_left, pace_of
from collection.models import Comment, EarlierJudgment, Judgment, Study, User
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_rating_task,
    a_report_task,
    an_open_study,
    answer_report,
    enrolled,
    in_hands_of,
)

# --- Ahead ----------------------------------------------------------------------------------------


def test_the_next_task_is_claimed_ahead_once(study: Study, ada: User) -> None:
    first = a_report_task(study)
    second = a_key_point_task(study)
    assignment = in_hands_of(ada, first)

    ahead = claim_ahead(assignment=assignment, at=NOON)
    again = claim_ahead(assignment=assignment, at=NOON)

    assert [one.task for one in ahead] == [second]
    assert again == ahead
    assert claim_next(study=study, rater=assignment.rater, at=NOON) == assignment, "this one comes first"


def test_nothing_is_claimed_ahead_of_what_waits_for_this_task(study: Study, ada: User) -> None:
    report = a_report_task(study)
    a_rating_task(study, after=report)
    a_key_point_task(study)

    assert claim_ahead(assignment=in_hands_of(ada, report), at=NOON) == []


def test_submitting_goes_to_what_was_claimed_ahead(study: Study, ada: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    a_key_point_task(study)
    answer_report(assignment, [0, 0, 0])
    client.force_login(ada)
    said = client.post(reverse("annotate:ahead", args=[assignment.pk])).json()

    response = client.post(reverse("annotate:submission", args=[assignment.pk]))

    assert response["Location"] == said["ahead"][0]


def test_nobody_claims_ahead_for_others(study: Study, ada: User, ben: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ben)

    assert client.post(reverse("annotate:ahead", args=[assignment.pk])).status_code == 404
    assert client.post(reverse("annotate:skip", args=[assignment.pk])).status_code == 404


def test_a_page_is_kept_only_when_it_is_fetched_ahead(study: Study, ada: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)
    page = reverse("annotate:assignment", args=[assignment.pk])

    assert "no-store" in client.get(page)["Cache-Control"]
    assert "no-store" not in client.get(page, headers={"Sec-Purpose": "prefetch"})["Cache-Control"]


# --- Skipping -------------------------------------------------------------------------------------


def test_ada_skips_with_a_reason_and_somebody_else_gets_it(study: Study, ada: User, ben: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study, k=1))
    answer_report(assignment, [0, 0, 0])
    client.force_login(ada)

    response = client.post(
        reverse("annotate:skip", args=[assignment.pk]), {"reason": "broken", "words": "It stops in mid-sentence."}
    )

    assert response["Location"] == reverse("annotate:nothing_left", args=[study.name])
    assert not Judgment.objects.exists()
    assert EarlierJudgment.objects.count() == 3
    comment = Comment.objects.get()
    assert comment.broken
    assert comment.whole_task  # of three questions
    assert "It stops in mid-sentence." in comment.text
    assert claim_next(study=study, rater=enrolled(ben, study), at=NOON) is not None


def test_skipping_twice_says_it_once(study: Study, ada: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)
    for _ in range(2):
        client.post(reverse("annotate:skip", args=[assignment.pk]), {"reason": "unclear"})

    assert Comment.objects.count() == 1
    assert Place.objects.filter(holder__isnull=False).count() == 0


def test_skipping_without_a_reason_skips_nothing(study: Study, ada: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)

    client.post(reverse("annotate:skip", args=[assignment.pk]), {"reason": ""})

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.OPEN


# --- The time left --------------------------------------------------------------------------------


def test_the_pace_is_the_median_of_what_was_submitted(study: Study, ada: User) -> None:
    assert pace_of(study, enrolled(ada, an_open_study(study))) is None
    for seconds in (60, 120, 600):
        assignment = in_hands_of(ada, a_report_task(study, f"A report of {seconds}."))
        answer_report(assignment, [0, 0, 0])
        submit_assignment(assignment=assignment, at=NOON)
        Assignment.objects.filter(pk=assignment.pk).update(active_seconds=seconds)

    assert pace_of(study, ada.rater) == 120


@pytest.mark.parametrize(("pace", "tasks", "minutes"), [(None, 5, None), (90.0, 0, None), (90.0, 10, 15), (3.0, 1, 1)])
def test_minutes_left(pace: float | None, tasks: int, minutes: int | None) -> None:
    assert minutes_left(pace, tasks) == minutes


def test_the_queue_says_how_long_the_rest_takes(study: Study, ada: User, client: Client) -> None:
    for n in range(4):
        a_report_task(study, f"Report {n}.")
    for _ in range(2):
        assignment = claim_next(study=study, rater=enrolled(ada, an_open_study(study)), at=NOON)
        assert assignment is not None
        answer_report(assignment, [0, 0, 0])
        submit_assignment(assignment=assignment, at=NOON)
    Assignment.objects.update(active_seconds=300)
    client.force_login(ada)

    assert "about 10 minutes left" in client.get("/work/").content.decode()
