"""Tasks set aside for later, and skipped tasks that are taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.assignments.assignments import claim, claim_next, submit_assignment
from annotate.assignments.places import AHEAD_FOR
from annotate.models import Assignment, Place, SkippedWork
from annotate.studies.edits import edit_study
from annotate.work.later import MOST_SET_ASIDE, SkippedForGood, TooManySetAside, set_aside, undo_skip
from annotate.work.pace import SkipReason, skip_assignment
from collection.models import Comment, Judgment, Study, User
from tests.annotate.factories import NOON, a_key_point_task, a_report_task, answer_report, enrolled, in_hands_of
from tests.annotate.work.test_assignment_in_browser import open_assignment, press, saved
from tests.browser import SignIn, check_accessibility

# --- Later ----------------------------------------------------------------------------------------


def test_a_task_set_aside_keeps_its_place_and_its_answers_while_the_next_comes(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    second = a_key_point_task(study)
    answer_report(assignment, [0, 0, 0])

    set_aside(assignment=assignment, at=NOON)
    following = claim_next(study=study, rater=assignment.rater, at=NOON)

    assert following is not None
    assert following.task == second
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.OPEN
    assert assignment.place.holder == assignment.rater
    assert Judgment.objects.count() == 3


def test_what_is_set_aside_comes_back_before_nothing_is_left(study: Study, ada: User) -> None:
    first = in_hands_of(ada, a_report_task(study))
    a_report_task(study, "Another report.")
    set_aside(assignment=first, at=NOON)
    second = claim_next(study=study, rater=first.rater, at=NOON)
    assert second is not None
    answer_report(second, [0, 0, 0])
    submit_assignment(assignment=second, at=NOON)

    back = claim_next(study=study, rater=first.rater, at=NOON)

    assert back == first
    assert back.set_aside_at is None


def test_only_so_many_are_set_aside(study: Study, ada: User) -> None:
    assignment: Assignment | None = in_hands_of(ada, a_report_task(study))
    for number in range(MOST_SET_ASIDE):
        a_report_task(study, f"Report {number}.")
    for _ in range(MOST_SET_ASIDE):
        assert assignment is not None
        set_aside(assignment=assignment, at=NOON)
        assignment = claim_next(study=study, rater=assignment.rater, at=NOON)
    assert assignment is not None

    with pytest.raises(TooManySetAside, match="5 tasks are set aside already"):
        set_aside(assignment=assignment, at=NOON)


def test_nobody_takes_what_is_set_aside_nor_the_task_in_front_of_its_assessor(
    study: Study, ada: User, ben: User
) -> None:
    first = in_hands_of(ada, a_report_task(study, k=1))
    a_report_task(study, "Another report.", k=1)
    set_aside(assignment=first, at=NOON)
    claim_next(study=study, rater=first.rater, at=NOON)

    taken = claim_next(study=study, rater=enrolled(ben, study), at=NOON + 2 * AHEAD_FOR)

    assert taken is None


def test_what_is_set_aside_times_out(study: Study, ada: User, ben: User) -> None:
    first = in_hands_of(ada, a_report_task(study, k=1))
    edit_study(study=study, timeout_minutes=30, at=NOON)
    study.refresh_from_db()
    set_aside(assignment=first, at=NOON)

    taken = claim_next(study=study, rater=enrolled(ben, study), at=NOON + timedelta(minutes=31))

    assert taken is not None
    assert taken.task == first.task


def test_later_goes_on_and_my_work_lists_the_task(study: Study, ada: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    a_key_point_task(study)
    client.force_login(ada)

    response = client.post(reverse("annotate:later", args=[assignment.pk]))

    following = Assignment.objects.get(task__task_type="key_point")
    assert response["Location"] == reverse("annotate:assignment", args=[following.pk])
    page = client.get(reverse("annotate:queue")).content.decode()
    assert "Set aside for later: 1" in page
    assert reverse("annotate:assignment", args=[assignment.pk]) in page


def test_the_only_task_comes_again_and_says_so(study: Study, ada: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)

    response = client.post(reverse("annotate:later", args=[assignment.pk]), follow=True)

    assert response.redirect_chain[-1][0] == reverse("annotate:assignment", args=[assignment.pk])
    assert "This is the only task left for you now." in response.content.decode()


@pytest.mark.parametrize("name", ["later", "skip_undo"])
def test_others_have_no_say(study: Study, ada: User, ben: User, client: Client, name: str) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ben)
    address = reverse(f"annotate:{name}", args=[assignment.pk])

    assert client.post(address).status_code == 404
    assert client.get(address).status_code == 405
    assignment.refresh_from_db()
    assert assignment.set_aside_at is None


def test_what_is_claimed_ahead_follows_what_is_in_hand(study: Study, ada: User) -> None:
    first = in_hands_of(ada, a_report_task(study))
    second = a_key_point_task(study)
    third = a_report_task(study, "Another report.")
    set_aside(assignment=first, at=NOON)

    in_hand = claim(study=study, rater=first.rater, at=NOON, ahead=2)

    assert [one.task for one in in_hand] == [second, third]


# --- Skipping undone --------------------------------------------------------------------------------


def skipped(assignment: Assignment) -> Assignment:
    skip_assignment(assignment=assignment, reason=SkipReason.UNCLEAR, words="", at=NOON)
    return assignment


def test_a_skipped_task_comes_back_with_its_answers(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study, k=1))
    answer_report(assignment, [1, 0, 0])
    grades = list(Judgment.objects.order_by("item").values_list("grade", flat=True))
    skipped(assignment)

    for _ in range(2):
        undo_skip(assignment=assignment, at=NOON)

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.OPEN
    assert list(Judgment.objects.order_by("item").values_list("grade", flat=True)) == grades
    assert Judgment.objects.get(grade=1).highlights.count() == 1
    assert Place.objects.get().holder == assignment.rater
    assert Comment.objects.get().text.endswith("(The assessor took the task back.)")
    assert not SkippedWork.objects.exists()


def test_what_somebody_else_has_stays_skipped(study: Study, ada: User, ben: User) -> None:
    assignment = skipped(in_hands_of(ada, a_report_task(study, k=1)))
    claim_next(study=study, rater=enrolled(ben, study), at=NOON)

    with pytest.raises(SkippedForGood, match="Somebody else has"):
        undo_skip(assignment=assignment, at=NOON)

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RETURNED


def test_what_is_closed_stays_skipped(study: Study, ada: User) -> None:
    assignment = skipped(in_hands_of(ada, a_report_task(study, k=1)))
    study.state = Study.State.CLOSED
    study.save()

    with pytest.raises(SkippedForGood):
        undo_skip(assignment=assignment, at=NOON)


def test_the_message_takes_the_task_back(study: Study, ada: User, client: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study, k=1))
    client.force_login(ada)
    address = reverse("annotate:skip_undo", args=[assignment.pk])

    shown = client.post(reverse("annotate:skip", args=[assignment.pk]), {"reason": "unclear"}, follow=True)
    response = client.post(address)

    assert f'action="{address}"' in shown.content.decode()
    assert response["Location"] == reverse("annotate:assignment", args=[assignment.pk])


# --- In the browser -----------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.in_real_time
@pytest.mark.by_hand
def test_ada_sets_a_task_aside_undoes_skipping_and_skips_by_key(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study, k=1))
    a_key_point_task(study)
    address = reverse("annotate:assignment", args=[assignment.pk])
    answered = page.locator("input[type=radio]:checked[value='0']")
    sign_in(page, ada)
    open_assignment(page, assignment)
    press(page, "0")
    saved(page)

    press(page, "l")
    expect(page.locator("[data-task-type=key_point].live")).to_be_visible()
    expect(page.get_by_text("Set aside. You find it under My work.")).to_be_visible()
    page.get_by_role("link", name="My work").click()
    expect(page.get_by_text("Set aside for later: 1")).to_be_visible()
    check_accessibility(page)
    page.locator(f"a[href='{address}']").click()
    expect(answered).to_have_count(1)

    press(page, "x")
    page.get_by_label("I don’t understand").check()
    page.get_by_role("button", name="Skip it").click()
    page.wait_for_url(lambda url: not url.endswith(address))
    check_accessibility(page)
    page.get_by_role("button", name="Undo", exact=True).click()
    page.wait_for_url(f"**{address}")
    expect(answered).to_have_count(1)

    Comment.objects.all().delete()
    press(page, "x")
    dialog = page.get_by_role("dialog", name="Skip this task")
    expect(dialog).to_be_visible()
    check_accessibility(page)
    dialog.get_by_label("I’d rather not read this").focus()
    press(page, "Space", "Enter")
    expect(page.locator("[data-task-type=key_point].live")).to_be_visible()
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RETURNED
    assert "I’d rather not read this" in Comment.objects.get().text
