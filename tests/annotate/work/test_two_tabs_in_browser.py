"""Two tabs of one assessor: what one submits, the other cannot silently take back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Assignment
from collection.models import Judgment, Study, User
from tests.annotate.factories import a_report_task, answer_report, in_hands_of
from tests.browser import SignIn, check_accessibility

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.in_real_time]


def test_a_tab_that_does_not_know_of_the_submission_is_told_and_makes_no_hole(
    page: Page, sign_in: SignIn, study: Study, ada: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    answer_report(assignment, [0, 0, 0])
    sign_in(page, ada)
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"/work/{assignment.pk}/")

    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(f"/work/{assignment.pk}/")
    expect(other.locator("#submitted-elsewhere")).to_be_visible()
    other.keyboard.press("-")

    expect(other.locator("#saving")).to_contain_text("Incomplete again")
    assert Assignment.objects.get().state == Assignment.State.SUBMITTED
    assert Judgment.objects.count() == 3
    check_accessibility(other)
    other.reload()
    expect(other.locator("#incomplete-again")).to_contain_text("Incomplete again: 1.")
    other.get_by_role("button", name="Keep my submitted answers").click()
    expect(other.get_by_text("Your submitted answers are kept.")).to_be_visible()
    expect(other.locator("#incomplete-again")).to_have_count(0)
