"""The queue: what waits for an assessor, and the way into it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.assignments.assignments import claim_next
from annotate.models import Assignment
from annotate.work.queue import RECENT, queues_of
from collection.models import Study, User
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_rating_task,
    a_report_task,
    a_submitted_report,
    an_open_study,
    enrolled,
    in_hands_of,
)
from tests.factories import a_study


def test_shows_what_comes_next(client: Client, study: Study, ada: User) -> None:
    a_report_task(study)
    enrolled(ada, an_open_study(study))
    client.force_login(ada)

    response = client.get("/work/")

    assert response.status_code == 200
    assert "Next: report on Topic 0" in response.text
    assert "0 of 1 submitted" in response.text
    assert "Read <em>everything</em> first." in response.text


def test_shows_what_is_in_hand(client: Client, study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)

    response = client.get("/work/")

    assert "Current task: report on Topic 0" in response.text
    assert f'href="/work/{assignment.pk}/"' in response.text


def test_names_no_run(client: Client, study: Study, ada: User) -> None:
    in_hands_of(ada, a_report_task(study))
    client.force_login(ada)

    assert "alpha" not in client.get("/work/").text


def test_shows_somebody_without_work_that_there_is_none(client: Client, ben: User) -> None:
    client.force_login(ben)

    assert "Nothing to do yet" in client.get("/work/").text


def test_hides_a_draft_study(client: Client, study: Study, ada: User) -> None:
    a_report_task(study)
    enrolled(ada, study)
    client.force_login(ada)

    assert study.name not in client.get("/work/").text


def test_asks_who_it_is(client: Client) -> None:
    assert client.get("/work/").status_code == 302


def test_starting_puts_the_next_task_into_her_hands(client: Client, study: Study, ada: User) -> None:
    a_report_task(study)
    enrolled(ada, an_open_study(study))
    client.force_login(ada)

    response = client.post(f"/work/next/{study.name}/")

    assert response.headers["Location"] == f"/work/{Assignment.objects.get().pk}/"


def test_starting_where_nothing_is_left_says_thanks(client: Client, study: Study, ada: User) -> None:
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [0, 0, 0])
    client.force_login(ada)

    response = client.post(f"/work/next/{study.name}/", follow=True)

    assert "All done. Thank you!" in response.text
    assert "You submitted 1 task of" in response.text


@pytest.mark.parametrize("path", ["/work/next/{}/", "/work/done/{}/"])
def test_a_stranger_finds_no_study(client: Client, study: Study, mallory: User, path: str) -> None:
    a_report_task(study)
    an_open_study(study)
    client.force_login(mallory)

    method = client.post if "next" in path else client.get

    assert method(path.format(study.name)).status_code == 404


def test_lists_what_was_submitted(client: Client, study: Study, ada: User) -> None:
    assignment = a_submitted_report(in_hands_of(ada, a_report_task(study)), [0, 0, 0])
    client.force_login(ada)

    response = client.get("/work/")

    assert f'<a href="/work/{assignment.pk}/">report on Topic 0</a>' in response.text


def test_lists_the_last_few_of_every_study(study: Study, ada: User) -> None:
    early = a_submitted_report(in_hands_of(ada, a_report_task(study)), [0, 0, 0])
    other = a_study(study.collection, name="second")
    for _ in range(RECENT + 1):
        a_submitted_report(in_hands_of(ada, a_report_task(other, "A report.")), [0, 0, 0])

    submitted = {queue.study: queue.submitted for queue in queues_of(ada, at=NOON)}

    assert submitted[study] == [early]
    assert len(submitted[other]) == RECENT


def test_counts_passages_that_wait_for_their_report_as_left(study: Study, ada: User, ben: User) -> None:
    report = a_report_task(study, k=1)
    a_rating_task(study, after=report)
    a_key_point_task(study)
    reading = in_hands_of(ada, report)

    (hers,) = queues_of(ada, at=NOON)
    enrolled(ben, study)
    (his,) = queues_of(ben, at=NOON)

    assert (hers.in_hand, hers.n_left, hers.n_all) == (reading, 2, 3)
    assert (his.in_hand, his.n_left) == (None, 1)  # the report's only place is taken, so its passage is out of reach


def test_takes_as_many_queries_however_many_tasks(
    study: Study, ada: User, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        a_report_task(study, "A report.")
    a_submitted_report(in_hands_of(ada, study.tasks.all()[0]), [0, 0, 0])
    claim_next(study=study, rater=ada.rater, at=NOON)
    client.force_login(ada)

    with django_assert_num_queries(17):  # session, user; rater, studies, in hand, submitted, two counts, seven more
        client.get("/work/")


# --- What asking would give -----------------------------------------------------------------------


def test_a_task_that_somebody_left_alone_is_offered_to_others(
    client: Client, study: Study, ada: User, ben: User
) -> None:
    study.timeout_minutes = 60
    task = a_report_task(study, k=1)
    in_hands_of(ada, task)
    enrolled(ben, study)

    (too_early,) = queues_of(ben, at=NOON + timedelta(minutes=59))
    (in_time,) = queues_of(ben, at=NOON + timedelta(minutes=61))
    (hers,) = queues_of(ada, at=NOON + timedelta(minutes=61))

    assert (too_early.next_task, too_early.n_left) == (None, 0)
    assert (in_time.next_task, in_time.n_left) == (task, 1)
    assert (hers.in_hand and hers.in_hand.task, hers.n_left) == (task, 0)
    client.force_login(ben)
    assert "Start<" in client.get("/work/").text  # noon is long ago
    assert (
        client.post(f"/work/next/{study.name}/")["Location"] == f"/work/{Assignment.objects.get(rater__user=ben).pk}/"
    )


def test_the_next_batch_is_offered_as_soon_as_it_is_due(client: Client, study: Study, ada: User, ben: User) -> None:
    study.batch_size = 1
    first, second = a_report_task(study, k=1), a_report_task(study, "Another report.", k=1)
    study.tasks.filter(pk=second.pk).update(batch=2)
    assignment = in_hands_of(ada, first)
    enrolled(ben, study)

    (before,) = queues_of(ben, at=NOON)
    a_submitted_report(assignment, [1, 0, 0])
    (after,) = queues_of(ben, at=NOON)

    assert (before.next_task, before.n_left) == (None, 0)
    assert (after.next_task, after.n_left) == (second, 1)
    client.force_login(ben)
    assert "Start<" in client.get("/work/").text
    assert (
        client.post(f"/work/next/{study.name}/")["Location"] == f"/work/{Assignment.objects.get(rater__user=ben).pk}/"
    )


def test_where_nothing_is_left_one_may_look_again(client: Client, study: Study, ada: User) -> None:
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [1, 0, 0])
    client.force_login(ada)

    page = client.get(f"/work/done/{study.name}/").text

    assert "Check again" in page
