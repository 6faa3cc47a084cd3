"""The answer that completes a task: saved, submitted and followed by the next task, in one request."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.assignments.assignments import AHEAD, claim, claim_next, return_assignment
from annotate.assignments.places import AHEAD_FOR
from annotate.models import Assignment, AttentionCheck, Place
from annotate.work.answers import answer_and_submit
from annotate.work.pace import claim_ahead
from annotate.work.queue import queues_of
from collection.models import EarlierJudgment, Judgment, Study, User
from tests.annotate.factories import (
    NOON,
    a_rating_task,
    a_report_task,
    an_open_study,
    answer_report,
    enrolled,
    in_hands_of,
    the_criterion,
)
from tests.reading import without_line_breaks

AFTER_A_WHILE = NOON + AHEAD_FOR


def post(client: Client, assignment: Assignment, n: int, *, grade: float | None = 0, **fields: Any) -> Any:
    """Send the answer to the nth question, and that it is the last."""
    item = assignment.asked.all()[n].item_id
    criterion = the_criterion(assignment.task.study, "answerability").pk
    sent = {"item": item, "criterion": criterion, "grade": grade, "spans": [], "submit": True, **fields}
    address = reverse("annotate:choice", args=[assignment.pk])
    return client.post(address, sent, content_type="application/json")


def address(assignment: Assignment) -> str:
    return reverse("annotate:assignment", args=[assignment.pk])


def held_by(user: User) -> list[Assignment]:
    return list(Assignment.objects.of(user).open().order_by("pk"))


@pytest.fixture
def as_ada(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def nearly_done(study: Study, ada: User) -> Assignment:
    """A report in Ada's hands of which the last question is open; four more wait."""
    reading = in_hands_of(ada, a_report_task(study))
    answer_report(reading, [0, 0, 0])
    Judgment.objects.filter(item=reading.asked.all()[2].item_id).delete()
    for n in range(4):
        a_report_task(study, f"Report {n}.", k=1)
    return reading


def test_the_last_answer_is_saved_and_submitted_and_tells_what_comes_next(
    as_ada: Client, nearly_done: Assignment, ada: User
) -> None:
    said = post(as_ada, nearly_done, 2).json()

    nearly_done.refresh_from_db()
    assert nearly_done.state == Assignment.State.SUBMITTED
    assert Judgment.objects.count() == 3
    following, *ahead = held_by(ada)
    assert said["state"] == "judged"
    assert said["next"] == address(following)
    assert said["ahead"] == [address(one) for one in ahead]
    assert len(ahead) == AHEAD
    assert [one.task.position for one in (following, *ahead)] == [1, 2, 3]


def test_a_task_of_one_question_counts_its_seconds(as_ada: Client, study: Study, ada: User) -> None:
    task = a_report_task(study)
    task.task_items.exclude(position=0).delete()
    reading = in_hands_of(ada, task)

    said = post(as_ada, reading, 0, seconds=12.5).json()

    reading.refresh_from_db()
    assert said["next"] == reverse("annotate:nothing_left", args=[study.name])
    assert (reading.state, reading.active_seconds) == (Assignment.State.SUBMITTED, 12.5)
    assert reading.submitted_at == reading.touched_at


def test_sent_once_more_after_a_lost_reply_it_says_the_same(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    first = post(as_ada, nearly_done, 2).json()
    held = held_by(ada)

    again = post(as_ada, nearly_done, 2)

    assert again.status_code == 200
    assert again.json() == {**first, "submitted": True}
    assert held_by(ada) == held
    assert not EarlierJudgment.objects.exists()
    assert Assignment.objects.filter(state="submitted").count() == 1


def test_another_answer_after_the_submission_changes_it(as_ada: Client, nearly_done: Assignment) -> None:
    first = post(as_ada, nearly_done, 2).json()
    mark = {"start": 0, "end": 4, "quote": nearly_done.task.report.text[:4]}  # type: ignore[union-attr]

    said = post(as_ada, nearly_done, 2, grade=1, spans=[mark]).json()

    assert (said["state"], said["submitted"], said["next"]) == ("judged", True, first["next"])
    assert Judgment.objects.filter(grade=1).count() == 1
    assert EarlierJudgment.objects.get().grade == 0


def test_what_lacks_an_answer_is_saved_and_not_submitted(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    Judgment.objects.filter(item=nearly_done.asked.all()[0].item_id).delete()

    said = post(as_ada, nearly_done, 2).json()

    assert said["state"] == "judged"
    assert said["unfinished"].startswith("Not finished yet: ")
    assert "next" not in said
    assert Judgment.objects.count() == 2
    assert held_by(ada) == [nearly_done]


def test_a_draft_is_kept_and_not_submitted(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    said = post(as_ada, nearly_done, 2, grade=1).json()

    assert said["state"] == "draft"
    assert "Mark the words" in said["unfinished"]
    assert nearly_done.drafts.get().grade == 1
    assert held_by(ada) == [nearly_done]


def test_what_is_refused_submits_nothing(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    assert post(as_ada, nearly_done, 2, grade=7).status_code == 422
    return_assignment(assignment=nearly_done, at=NOON)
    assert post(as_ada, nearly_done, 2).status_code == 410

    assert held_by(ada) == []


def test_nobody_submits_for_others(client: Client, nearly_done: Assignment, ben: User, ada: User) -> None:
    client.force_login(ben)

    assert post(client, nearly_done, 2).status_code == 404
    assert held_by(ada) == [nearly_done]


def test_a_check_comes_at_its_place_before_what_was_claimed_ahead(
    as_ada: Client, nearly_done: Assignment, study: Study, ada: User
) -> None:
    claim(study=study, rater=enrolled(ada, study), at=NOON, ahead=AHEAD)
    AttentionCheck.objects.create(study=study, question="Choose Yes.", options=["Yes", "No"], right=0, after=1)

    said = post(as_ada, nearly_done, 2).json()

    assert said["next"] == reverse("annotate:attention", args=[study.name])
    assert len(held_by(ada)) == AHEAD


def test_who_left_the_study_gets_nothing_more(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    ada.enrolments.update(left_at=NOON)

    said = post(as_ada, nearly_done, 2).json()

    assert said["next"] == reverse("annotate:nothing_left", args=[nearly_done.task.study.name])
    assert held_by(ada) == []


def test_submitting_by_form_claims_ahead_for_the_page_alone(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    answer_report(nearly_done, [0, 0, 0])

    said = as_ada.post(reverse("annotate:submission", args=[nearly_done.pk]), headers={"Accept": "application/json"})

    assert [said.json()["next"], *said.json()["ahead"]] == [address(one) for one in held_by(ada)]
    assert len(held_by(ada)) == 1 + AHEAD


# --- What is claimed ahead ------------------------------------------------------------------------


def test_no_more_is_claimed_ahead_than_the_quota_grants(study: Study, ada: User) -> None:
    study.quota = 2
    rater = enrolled(ada, an_open_study(study))
    for n in range(4):
        a_report_task(study, f"Report {n}.")

    assert len(claim(study=study, rater=rater, at=NOON, ahead=AHEAD)) == 2


def test_nothing_is_claimed_past_a_task_for_which_others_wait(study: Study, ada: User) -> None:
    rater = enrolled(ada, an_open_study(study))
    a_report_task(study, "First.")
    second = a_report_task(study, "Second.")
    a_rating_task(study, after=second)
    a_report_task(study, "Third.")

    for _ in range(2):
        held = claim(study=study, rater=rater, at=NOON, ahead=AHEAD)
        assert [one.task.position for one in held] == [0, 1]


@pytest.fixture
def only_ahead(study: Study, ada: User) -> list[Assignment]:
    """Ada is at the first of three tasks and holds the others, of one place each."""
    for n in range(3):
        a_report_task(study, f"Report {n}.", k=1)
    return claim(study=study, rater=enrolled(ada, an_open_study(study)), at=NOON, ahead=AHEAD)


def test_what_is_held_ahead_goes_to_whoever_has_nothing_left(
    only_ahead: list[Assignment], study: Study, ada: User, ben: User
) -> None:
    rater = enrolled(ben, study)
    assert claim_next(study=study, rater=rater, at=NOON) is None, "she may be there any moment"
    assert queues_of(ben, at=AFTER_A_WHILE)[0].next_task == only_ahead[1].task

    got = claim_next(study=study, rater=rater, at=AFTER_A_WHILE)

    assert got is not None
    assert got.task == only_ahead[1].task
    assert held_by(ada) == only_ahead[:1], "and the task that she is at stays hers"
    assert Place.objects.filter(holder=None).count() == 1
    assert claim_next(study=study, rater=ada.rater, at=AFTER_A_WHILE) == only_ahead[0]
    again = claim(study=study, rater=ada.rater, at=AFTER_A_WHILE, ahead=AHEAD)
    assert [one.task for one in again] == [only_ahead[0].task, only_ahead[2].task], "as if she had never had it"


def test_what_is_begun_or_reached_stays(only_ahead: list[Assignment], study: Study, ada: User, ben: User) -> None:
    answer_report(only_ahead[2], [0, 0, 0])
    Assignment.objects.filter(pk=only_ahead[0].pk).update(state="submitted", submitted_at=NOON)

    assert claim_next(study=study, rater=enrolled(ben, study), at=AFTER_A_WHILE) is None
    assert held_by(ada) == only_ahead[1:]


def test_the_time_of_what_is_ahead_begins_when_it_is_reached(as_ada: Client, study: Study, ada: User) -> None:
    study.timeout_minutes = 30
    for n in range(3):
        a_report_task(study, f"Report {n}.", k=1)
    first, second, _ = claim(study=study, rater=enrolled(ada, an_open_study(study)), at=NOON, ahead=AHEAD)
    answer_report(first, [0, 0, 0])

    post(as_ada, first, 2)

    second.refresh_from_db()
    assert second.touched_at > NOON + timedelta(minutes=30)
    assert second.opened_at == NOON


def test_the_queue_counts_what_is_in_hand_ahead(only_ahead: list[Assignment], ada: User) -> None:
    (queue,) = queues_of(ada, at=NOON)

    assert queue.in_hand == only_ahead[0]
    assert queue.n_all == 3


# --- The pages that come along --------------------------------------------------------------------

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]+"')


def test_the_pages_of_what_comes_next_come_along(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    said = post(as_ada, nearly_done, 2, held=[]).json()

    in_hand = [address(one) for one in held_by(ada)]
    assert list(said["pages"]) == in_hand
    for where, page in said["pages"].items():
        fetched = as_ada.get(where).content.decode()
        assert TOKEN.sub("", without_line_breaks(page)) == TOKEN.sub("", fetched)


def test_what_the_browser_holds_does_not_come_along(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    following, *ahead = (one.pk for one in (*held_by(ada), *claim_ahead(assignment=nearly_done, at=NOON)))
    assert following == nearly_done.pk

    said = post(as_ada, nearly_done, 2, held=ahead).json()

    newest = held_by(ada)[-1]
    assert newest.pk not in ahead
    assert list(said["pages"]) == [address(newest)]


def test_no_pages_come_along_unless_they_are_asked_for(as_ada: Client, nearly_done: Assignment) -> None:
    assert "pages" not in post(as_ada, nearly_done, 2).json()


@pytest.mark.parametrize("held", ["all", [0], [True, "1"], list(range(1, 99)), {"1": 2}, 5])
def test_what_is_no_list_of_tasks_is_refused(as_ada: Client, nearly_done: Assignment, held: Any) -> None:
    assert post(as_ada, nearly_done, 2, held=held).status_code == 400

    nearly_done.refresh_from_db()
    assert nearly_done.state == Assignment.State.OPEN


def test_nothing_comes_along_where_nothing_is_left(as_ada: Client, study: Study, ada: User) -> None:
    task = a_report_task(study)
    task.task_items.exclude(position=0).delete()

    said = post(as_ada, in_hands_of(ada, task), 0, held=[]).json()

    assert said["next"] == reverse("annotate:nothing_left", args=[study.name])
    assert said["pages"] == {}


def test_the_pages_speak_their_readers_language(as_ada: Client, nearly_done: Assignment, ada: User) -> None:
    as_ada.cookies["language"] = "de"
    ada.language = "de"
    ada.save()

    pages = post(as_ada, nearly_done, 2, held=[]).json()["pages"]

    assert len(pages) == 1 + AHEAD
    assert all('lang="de"' in page and "Später" in page for page in pages.values())


def test_the_pages_of_what_is_taken_away_meanwhile_do_not_come_along(
    as_ada: Client, nearly_done: Assignment, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_ahead(assignment=nearly_done, at=NOON)

    def then_taken_away(**sent: Any) -> Any:
        done = answer_and_submit(**sent)
        return_assignment(assignment=done.following.ahead[0], at=NOON)
        Assignment.objects.filter(pk=done.following.assignment.pk).delete()  # type: ignore[union-attr]
        return done

    monkeypatch.setattr("annotate.work.choice_views.answer_and_submit", then_taken_away)
    said = post(as_ada, nearly_done, 2, held=[]).json()

    assert list(said["pages"]) == [said["ahead"][1]]


def test_what_hands_pages_on_is_a_script_for_these_addresses(client: Client) -> None:
    script = client.get(reverse("annotate:page_worker"))

    assert script.status_code == 200
    assert script["Content-Type"].startswith("text/javascript")
    assert "max-age=3600" in script["Cache-Control"]
    assert 'addEventListener("fetch"' in script.content.decode()
